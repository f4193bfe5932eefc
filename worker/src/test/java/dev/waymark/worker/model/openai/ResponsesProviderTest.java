package dev.waymark.worker.model.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.WireConversation;
import dev.waymark.worker.model.http.WireName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ResponsesProviderTest extends OpenAiWireCases {
    private static final String RESPONSE = "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","
            + "\"usage\":{\"input_tokens\":50,\"input_tokens_details\":{\"cached_tokens\":30,"
            + "\"cache_write_tokens\":10},\"output_tokens\":20,\"output_tokens_details\":{\"reasoning_tokens\":15}}}}";

    @Override
    protected ModelServer newServer() {
        return new ResponsesServer();
    }

    @Override
    protected ModelProvider newProvider(Map<String, String> environment) {
        return ResponsesProvider.of(environment);
    }

    @Override
    protected String errorEvent(String type, String message) {
        return "{\"type\":\"error\",\"code\":\"" + type + "\",\"message\":\"" + message
                + "\",\"param\":null,\"sequence_number\":1}";
    }

    @Test
    void request_withEverything_hasTheWholeBody() throws Exception {
        Json item = Json.of(Map.of("type", "reasoning", "id", "rs_1", "summary", List.of(), "encrypted_content", "x"));
        ModelRequest request = WireConversation.withEverything(ResponseItems.reasoning("m-1", "", Optional.of(item)))
                .to(
                        "m-1",
                        ModelOptions.NONE
                                .withEffort("high")
                                .withServiceTier("flex")
                                .withTemperature(0));

        JsonNode body = ProviderJson.MAPPER.valueToTree(ResponsesMapper.request(request, true));

        assertThat(body).isEqualTo(json("""
                        {'model': 'm-1', 'instructions': 'Be brief.', 'max_output_tokens': 100, 'store': false,
                         'stream': true, 'include': ['reasoning.encrypted_content'], 'temperature': 0.0,
                         'reasoning': {'effort': 'high'}, 'service_tier': 'flex',
                         'tools': [
                           {'type': 'function', 'name': 'weather', 'description': 'The weather',
                            'parameters': {'type': 'object'}, 'strict': false},
                           {'type': 'function', 'name': 'bare', 'parameters': {'type': 'object'}, 'strict': false}],
                         'input': [
                           {'role': 'user', 'content': [
                             {'type': 'input_text', 'text': 'Here, and there?'},
                             {'type': 'input_image', 'image_url': 'https://images.example/there.png', 'detail': 'auto'},
                             {'type': 'input_image', 'image_url': 'data:image/jpeg;base64,aGVyZQ==',
                              'detail': 'auto'}]},
                           {'type': 'reasoning', 'id': 'rs_1', 'summary': [], 'encrypted_content': 'x'},
                           {'role': 'assistant', 'content': 'One moment.'},
                           {'type': 'function_call', 'call_id': 'tu_1', 'name': 'weather',
                            'arguments': '{#city#:#Zürich#,#when#:null,#at#:[1,2.5,null]}'},
                           {'type': 'function_call', 'call_id': 'RENAMED', 'name': 'weather',
                            'arguments': '{#invalid_arguments#:#{broken#}'},
                           {'type': 'function_call_output', 'call_id': 'tu_1', 'output': 'rain'},
                           {'type': 'function_call_output', 'call_id': 'RENAMED', 'output': 'Invalid input'},
                           {'role': 'user', 'content': [
                             {'type': 'input_text', 'text': 'And?'}, {'type': 'input_text', 'text': 'Quick!'}]}]}
                        """));
    }

    private static JsonNode json(String text) throws JsonProcessingException {
        return ProviderJson.MAPPER.readTree(
                text.replace('\'', '"').replace("#", "\\\"").replace("RENAMED", WireName.ofCall("tu_1~2")));
    }

    @Test
    void encryptedReasoning_isSentBackUnchangedInLaterTurns() throws Exception {
        List<Message> said = new ArrayList<>(List.of(Message.user("Weather?")));
        Reply first = reply(ModelAnswer.says()
                .plus(new Piece.Thought("", "Z0FBQUFB"))
                .plus(new Piece.Thought("Tokyo.", "Z0FBQUFC"))
                .calls("tu_1", "weather", "{}"));
        said.add(new Message(Role.ASSISTANT, first.content()));
        said.add(Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))));
        server().answers(ModelAnswer.says()
                .plus(new Piece.Thought("", "Z0FBQUFD"))
                .plus(new Piece.Words("Rain.")));
        said.add(new Message(Role.ASSISTANT, provider().reply(request(said)).content()));
        said.add(Message.user("And tomorrow?"));
        provider().reply(request(said));

        List<JsonNode> bodies =
                server().received().stream().map(ModelServer.Received::body).toList();
        assertThat(bodies)
                .allMatch(body -> body.path("include").path(0).asText().equals("reasoning.encrypted_content"));
        assertThat(bodies.get(2).path("input").findValuesAsText("encrypted_content"))
                .containsExactly("Z0FBQUFB", "Z0FBQUFC", "Z0FBQUFD");
        assertThat(bodies.get(1).at("/input/2/summary/0/text").asText()).isEqualTo("Tokyo.");
    }

    /**
     * The service's answer to reasoning that was encrypted for another organization, or with a key that it no longer
     * has.
     */
    @Test
    void rejectedEncryptedReasoning_isLeftOutOnce() throws Exception {
        ModelAnswer rejected = ModelAnswer.error(
                400,
                "{\"error\":{\"message\":\"The encrypted content Z0FB... could not be verified. Reason: Encrypted content"
                        + " could not be decrypted or parsed.\",\"type\":\"invalid_request_error\",\"param\":null,"
                        + "\"code\":\"invalid_encrypted_content\"}}");
        Reply first = reply(ModelAnswer.says()
                .plus(new Piece.Thought("Tokyo.", "Z0FBQUFB"))
                .plus(new Piece.Words("Let me see."))
                .calls("tu_1", "weather", "{}"));
        List<Message> said = List.of(
                Message.user("Weather?"),
                new Message(Role.ASSISTANT, first.content()),
                Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))));
        server().answers(rejected, ModelAnswer.says("Rain."));

        assertThat(provider().reply(request(said)).content()).containsExactly(new Part.Text("Rain."));

        List<JsonNode> bodies =
                server().received().stream().map(ModelServer.Received::body).toList();
        assertThat(bodies).hasSize(3);
        ObjectNode expected = bodies.get(1).deepCopy();
        ((ArrayNode) expected.path("input")).remove(1);
        assertThat(bodies.get(1).at("/input/1/encrypted_content").asText()).isEqualTo("Z0FBQUFB");
        assertThat(bodies.get(2)).isEqualTo(expected);

        server().answers(rejected);
        assertThat(catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(said)))
                        .type())
                .isEqualTo("BadRequest");
        assertThat(server().received()).hasSize(5);
        assertThat(failure(rejected).type()).isEqualTo("BadRequest");
        assertThat(server().received()).hasSize(6);
    }

    /**
     * The service rejects reasoning that nothing follows. It stores no reasoning, so it also rejects reasoning that is
     * not encrypted.
     */
    @Test
    void reasoning_lastOrNotEncrypted_isKeptButNotSent() throws Exception {
        Reply alone = reply(ModelAnswer.says().plus(new Piece.Thought("Hm.", "Z0FB")));
        Reply plain = reply(ModelAnswer.events(
                added(0, "{\"type\":\"reasoning\",\"id\":\"rs_0\",\"summary\":[]}"),
                done(
                        0,
                        "{\"type\":\"reasoning\",\"id\":\"rs_0\",\"summary\":[],\"encrypted_content\":null,"
                                + "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"So.\"}]}"),
                RESPONSE));
        assertThat(((Part.Reasoning) plain.content().get(0)).text()).isEqualTo("So.");
        List<Part> parts = new ArrayList<>(plain.content());
        parts.add(new Part.Text("Rain."));

        server().answers(ModelAnswer.says("Well."));
        provider()
                .reply(request(List.of(
                        Message.user("Hi"),
                        new Message(Role.ASSISTANT, parts),
                        Message.user("And?"),
                        new Message(Role.ASSISTANT, alone.content()),
                        Message.user("Hello?"))));

        assertThat(server().received().get(2).body().path("input").findValuesAsText("type"))
                .doesNotContain("reasoning");
    }

    @Test
    void reasoning_requestedByTheOptions_isShown() throws Exception {
        String summary = "{\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"%s\"}";
        String part = "{\"type\":\"response.reasoning_summary_part.added\",\"output_index\":0}";
        String item = "{\"type\":\"reasoning\",\"summary\":[%s]}";
        String texts = "{\"type\":\"summary_text\",\"text\":\"One.\"},{\"type\":\"summary_text\",\"text\":\"Two.\"}";
        server().answers(ModelAnswer.events(
                added(0, item.formatted("")),
                part,
                summary.formatted("On"),
                summary.formatted("e."),
                part,
                summary.formatted("Two."),
                done(0, item.formatted(texts)),
                RESPONSE));
        Shown shown = shown(new ModelRequest(
                model(),
                Optional.empty(),
                List.of(Message.user("Hi")),
                List.of(),
                3_000,
                ModelOptions.NONE.withThinkingDisplay("summarized")));

        assertThat(shown.reasoning()).isEqualTo("One.\n\nTwo.");
        assertThat(shown.reply().message().reasoning()).isEqualTo("One.\n\nTwo.");
        assertThat(server().received().get(0).body().path("reasoning").toString())
                .isEqualTo("{\"summary\":\"auto\"}");
    }

    @Test
    void phase_ofAMessage_isSentBackWithIt() throws Exception {
        String message = "{\"type\":\"message\",\"role\":\"assistant\",\"phase\":\"commentary\",\"content\":"
                + "[{\"type\":\"output_text\",\"text\":\"Let me see.\"}]}";
        Reply reply = reply(ModelAnswer.events(added(0, message), done(0, message), RESPONSE));

        server().answers(ModelAnswer.says("Rain."));
        provider()
                .reply(request(List.of(
                        Message.user("Hi"), new Message(Role.ASSISTANT, reply.content()), Message.user("And?"))));

        assertThat(server().received().get(1).body().at("/input/1/phase").asText())
                .isEqualTo("commentary");
        assertThat(server().received().get(1).body().at("/input/1/content").asText())
                .isEqualTo("Let me see.");
    }

    @Test
    void usage_includesCachedInputAndReasoningOutput() throws Exception {
        assertThat(reply(ModelAnswer.events(RESPONSE)).usage()).isEqualTo(new Usage(50, 20, 30, 10, 15));
    }

    @Test
    void encryption_refusedByAModelWithoutReasoning_isNotRequestedAgain() throws Exception {
        String refusal = "{\"error\":{\"message\":\"Encrypted content is not supported with this model.\","
                + "\"type\":\"invalid_request_error\",\"param\":\"include\",\"code\":null}}";
        ModelAnswer hello = ModelAnswer.says("Hello");
        server().answers(asked -> asked.body().has("include") ? ModelAnswer.error(400, refusal) : hello);

        for (int turn = 0; turn < 2; turn++) {
            assertThat(provider().reply(request(List.of(Message.user("Hi")))).content())
                    .containsExactly(new Part.Text("Hello"));
        }
        assertThat(server().received())
                .extracting(asked -> asked.body().has("include"))
                .containsExactly(true, false, false);
    }

    @Test
    void tokenLimit_belowTheServicesMinimum_isRaisedToIt() throws Exception {
        server().answers(ModelAnswer.says("Hello."));
        provider().reply(new ModelRequest(model(), Optional.empty(), List.of(Message.user("Hi")), List.of(), 1));

        assertThat(server().received().get(0).body().path("max_output_tokens").asInt())
                .isEqualTo(16);
    }

    @Test
    void refusalAndWithheldReply_areRefusals() {
        String message = "{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"I can't help.\"}]}";
        ModelFailure refusal = failure(ModelAnswer.events(added(0, message), done(0, message), RESPONSE));
        ModelFailure withheld = failure(ModelAnswer.says("I").stopping("content_filter"));

        assertThat(List.of(refusal.type(), refusal.retryable())).isEqualTo(List.of("Refused", false));
        assertThat(refusal.getMessage()).contains("I can't help.");
        assertThat(List.of(withheld.type(), withheld.retryable())).isEqualTo(List.of("Refused", false));
    }

    @Test
    void failedResponse_isItsError() {
        ModelFailure failure = failure(ModelAnswer.events("{\"type\":\"response.failed\",\"response\":{\"status\":"
                + "\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Slow down.\"}}}"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("RateLimited", true));
        assertThat(failure.getMessage()).contains("Slow down.");
    }

    @Test
    void unfinishedItem_isACutStream() {
        ModelFailure failure = failure(ModelAnswer.events(added(0, "{\"type\":\"message\",\"content\":[]}"), RESPONSE));

        assertThat(failure.type()).isEqualTo("StreamCut");
    }

    @Test
    void reasoningOfChatCompletions_isNotSent() throws Exception {
        server().answers(ModelAnswer.says("Fine."));
        provider()
                .reply(request(List.of(
                        Message.user("Hi"),
                        Message.assistant(ReasoningDetails.reasoning(model(), "Hm."), new Part.Text("Hello.")),
                        Message.user("And?"))));

        assertThat(server().received().get(0).body().toString()).doesNotContain("Hm.");
    }

    @Test
    void missingKey_isThatOfOpenAi() {
        ModelFailure failure = catchThrowableOfType(
                ModelFailure.class, () -> newProvider(Map.of()).reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.getMessage()).contains("OPENAI_API_KEY is not set");
        assertThat(newProvider(Map.of()).pricing("gpt-5")).isPresent();
    }

    private static String added(int index, String item) {
        return event("response.output_item.added", index, item);
    }

    private static String done(int index, String item) {
        return event("response.output_item.done", index, item);
    }

    private static String event(String type, int index, String item) {
        try {
            ObjectNode event = ProviderJson.MAPPER.createObjectNode();
            event.put("type", type).put("output_index", index).set("item", ProviderJson.MAPPER.readTree(item));
            return event.toString();
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(item, e);
        }
    }

    @Test
    void progress_ignoresStatusEvents() {
        String created = "{\"type\":\"response.created\",\"response\":{}}";
        String status = "{\"type\":\"response.in_progress\",\"response\":{}}";
        String alive = "{\"type\":\"keepalive\",\"sequence_number\":3}";
        String thought =
                "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"reasoning\"}}";
        String summary = "{\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"Hm\"}";
        String call = "{\"type\":\"response.output_item.added\",\"output_index\":1,"
                + "\"item\":{\"type\":\"function_call\"}}";
        String arguments = "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":\"{\"}";

        assertThat(progress(status, alive)).isZero();
        assertThat(progress(created, status, alive, status)).isEqualTo(1);
        assertThat(progress(created, status, thought, alive, summary, call, alive, arguments, status))
                .isEqualTo(5);
    }
}
