package dev.waymark.worker.model.anthropic;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.model.http.WireCases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnthropicProviderTest extends WireCases {
    @Override
    protected ModelServer newServer() {
        return new AnthropicServer();
    }

    @Override
    protected ModelProvider newProvider(Map<String, String> environment) {
        return AnthropicProvider.of(environment);
    }

    @Override
    protected String errorBody(String type, String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"" + type + "\",\"message\":\"" + message + "\"}}";
    }

    @Override
    protected String errorEvent(String type, String message) {
        return errorBody(type, message);
    }

    @Test
    void refusal_isAFailure() {
        ModelFailure failure = failure(ModelAnswer.says("I").stopping("refusal"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Refused", false));
    }

    @Test
    void contextWindow_exceeded_isAFailure() {
        ModelFailure failure = failure(ModelAnswer.says("I").stopping("model_context_window_exceeded"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("ContextWindowExceeded", false));
    }

    @Test
    void usage_cachedInput_isCounted() throws Exception {
        Reply reply = reply(ModelAnswer.events(
                "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1,"
                        + "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":100}}}",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}",
                "{\"type\":\"content_block_stop\",\"index\":0}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}",
                "{\"type\":\"message_stop\"}"));

        assertThat(reply).isEqualTo(new Reply(List.of(new Part.Text("Hi")), new Usage(123, 7, 100, 20), "end_turn"));
    }

    /** Counts are cumulative. At the end, gateways omit the counts that they do not know, or send null. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'output_tokens':7,'input_tokens':null,'cache_read_input_tokens':null} | 123 | 100",
                "{'output_tokens':7,'input_tokens':5} | 125 | 100",
                "{'output_tokens':7,'cache_read_input_tokens':200} | 223 | 200",
                "{'output_tokens':7,'input_tokens':0,'cache_read_input_tokens':0} | 20 | 0",
            })
    void usage_atTheEnd_replacesEarlierCounts(String usage, long input, long cached) throws Exception {
        Reply reply = reply(ModelAnswer.events(
                "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1,"
                        + "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":100}}}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
                        + usage.replace('\'', '"') + "}",
                "{\"type\":\"message_stop\"}"));

        assertThat(reply.usage()).isEqualTo(new Usage(input, 7, cached, 20));
    }

    /** A recorded stream of Fable 5.1 has it at the start; the documentation has it at the end after a model switch. */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "`,\"input_transformations\":[{\"type\":\"thinking_dropped\"}]`, ``, true",
                "``, `,\"input_transformations\":[{\"type\":\"thinking_dropped\"}]`, true",
                "`,\"input_transformations\":[]`, ``, false"
            })
    void droppedThinking_isNoticed(String atTheStart, String atTheEnd, boolean dropped) throws Exception {
        assertThat(reply(ModelAnswer.events(
                                "{\"type\":\"message_start\",\"message\":{\"usage\":{}" + atTheStart + "}}",
                                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{}"
                                        + atTheEnd + "}",
                                "{\"type\":\"message_stop\"}"))
                        .withoutReasoning())
                .isEqualTo(dropped);
    }

    @Test
    void nulls_insteadOfText_areEmpty() throws Exception {
        assertThat(reply(ModelAnswer.events(
                                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":null}}",
                                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}",
                                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":null}}",
                                "{\"type\":\"content_block_stop\",\"index\":0}",
                                "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"tu_1\","
                                        + "\"name\":\"weather\",\"input\":null}}",
                                "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":null}}",
                                "{\"type\":\"content_block_stop\",\"index\":1}",
                                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}",
                                "{\"type\":\"message_stop\"}"))
                        .content())
                .containsExactly(new Part.Text("Hi"), new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT));
    }

    @Test
    void unknownBlock_isKeptAndSentBack() throws Exception {
        Reply reply = reply(ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Strange("{\"type\":\"crystal_ball\",\"vision\":{\"n\":[1,null]}}"))
                .plus(new ModelAnswer.Piece.Strange("{\"type\":\"redacted_thinking\",\"data\":\"c2VhbGVk\"}"))
                .plus(new ModelAnswer.Piece.Words("I see rain.")));

        server().answers(ModelAnswer.says("Bye."));
        provider()
                .reply(request(List.of(
                        Message.user("Hi"), new Message(Role.ASSISTANT, reply.content()), Message.user("Thanks"))));

        assertThat(server().received().get(1).body().at("/messages/1/content"))
                .isEqualTo(new JsonMapper()
                        .readTree("[{\"type\":\"crystal_ball\",\"vision\":{\"n\":[1,null]}},"
                                + "{\"type\":\"redacted_thinking\",\"data\":\"c2VhbGVk\"},"
                                + "{\"type\":\"text\",\"text\":\"I see rain.\"}]"));
    }

    @Test
    void blockWithAnUnknownDelta_isLeftOut() throws Exception {
        assertThat(reply(ModelAnswer.events(
                        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"film\"}}",
                        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"frame_delta\"}}",
                        "{\"type\":\"content_block_stop\",\"index\":0}",
                        "{\"type\":\"fanfare\"}",
                        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
                        "{\"type\":\"message_stop\"}")))
                .isEqualTo(Reply.of());
    }

    @Test
    void unfinishedBlock_isACutStream() {
        ModelFailure failure = failure(ModelAnswer.events(
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}",
                "{\"type\":\"message_stop\"}"));

        assertThat(failure.type()).isEqualTo("StreamCut");
    }

    @Test
    void conversationWithCalls_agentWithoutTools_isAnswered() throws Exception {
        server().answers(ModelAnswer.says("Rain."));
        List<Message> said = List.of(
                Message.user("Weather?"),
                Message.assistant(new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT)),
                Message.results(List.of(new Part.ToolResult("tu_1", "not found", true))));

        assertThat(provider().reply(new ModelRequest(model(), Optional.empty(), said, List.of(), 10)))
                .isEqualTo(Reply.of(new Part.Text("Rain.")));
    }

    @Test
    void options_areSentWithTheNamesOfTheApi() throws Exception {
        server().answers(ModelAnswer.says("Hello."));
        ModelRequest hello = request(List.of(Message.user("Hi")));

        provider().reply(hello.to(model(), ModelOptions.NONE.withTemperature(0).withServiceTier("standard_only")));
        provider().reply(hello);

        JsonNode body = server().received().get(0).body();
        assertThat(body.path("temperature").asDouble(-1)).isZero();
        assertThat(body.path("service_tier").asText()).isEqualTo("standard_only");
        assertThat(server().received().get(1).body().has("temperature")).isFalse();
    }

    /** The API treats calls, their results and the replies to them as one turn, either with or without thinking. */
    @Test
    void thinking_inATurnThatBeganWithIt_isRequested() throws Exception {
        ModelOptions options = ModelOptions.NONE.withThinkingBudget(2_000).withEffort("high");
        server().answers(
                        ModelAnswer.says()
                                .plus(new ModelAnswer.Piece.Thought("Hm.", "c2lnbmVk"))
                                .calls("tu_1", "weather", "{}"),
                        ModelAnswer.says("Rain."));
        List<Message> said = new ArrayList<>(List.of(Message.user("Weather?")));
        Reply first = provider().reply(thinking(said, options));
        said.add(new Message(Role.ASSISTANT, first.content()));
        said.add(Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))));
        provider().reply(thinking(said, options));
        said.add(Message.assistant(new Part.ToolUse("tu_2", "weather", Json.EMPTY_OBJECT)));
        said.add(Message.results(List.of(new Part.ToolResult("tu_2", "sun", false))));
        provider().reply(thinking(said, options));
        said.set(1, Message.assistant(new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT)));
        provider().reply(thinking(said, options));

        List<JsonNode> bodies =
                server().received().stream().map(ModelServer.Received::body).toList();
        assertThat(bodies)
                .extracting(body -> body.at("/thinking/budget_tokens").asInt())
                .containsExactly(2_000, 2_000, 2_000, 0);
        assertThat(bodies)
                .extracting(body -> body.at("/output_config/effort").asText())
                .containsOnly("high");
        assertThat(bodies.get(1).at("/messages/1/content/0/signature").asText()).isEqualTo("c2lnbmVk");
    }

    @Test
    void thinking_decidedByTheModel_isRequestedInEachStep() throws Exception {
        ModelOptions adaptive = ModelOptions.NONE.withThinking("adaptive").withEffort("high");
        server().answers(ModelAnswer.says("Rain."));
        List<Message> said = List.of(
                Message.user("Weather?"),
                Message.assistant(new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT)),
                Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))));
        provider().reply(thinking(said.subList(0, 1), adaptive));
        provider().reply(thinking(said, adaptive));
        provider()
                .reply(thinking(said, ModelOptions.NONE.withThinking("disabled").withTemperature(1)));

        assertThat(server().received())
                .extracting(asked -> asked.body().path("thinking").toString())
                .containsExactly(
                        "{\"type\":\"adaptive\",\"display\":\"summarized\"}",
                        "{\"type\":\"adaptive\",\"display\":\"summarized\"}",
                        "{\"type\":\"disabled\"}");
    }

    @Test
    void thinking_ofAModelThatHidesIt_isRequestedAndStreamed() throws Exception {
        ModelAnswer.Speech speech = new ModelAnswer.Speech(
                List.of(
                        new ModelAnswer.Piece.Thought("First the weather.", "c2ln"),
                        new ModelAnswer.Piece.Words("Let me see."),
                        new ModelAnswer.Piece.Thought("Then the day.", "c2ln")),
                Usage.NONE,
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                false);
        List<Message> asked = List.of(Message.user("Weather?"));
        for (ModelOptions options : List.of(ModelOptions.NONE, ModelOptions.NONE.withThinkingDisplay("omitted"))) {
            server().answers(speech);
            Shown shown =
                    shown(new ModelRequest("claude-opus-5-5", Optional.empty(), asked, List.of(), 3_000, options));

            boolean isShown = options.equals(ModelOptions.NONE);
            String all = isShown ? "First the weather.\n\nThen the day." : "";
            assertThat(shown.reasoning()).isEqualTo(all);
            assertThat(shown.reply().message().reasoning()).isEqualTo(all);
        }
        assertThat(server().received())
                .extracting(body -> body.body().path("thinking").toString())
                .containsExactly(
                        "{\"type\":\"adaptive\",\"display\":\"summarized\"}",
                        "{\"type\":\"adaptive\",\"display\":\"omitted\"}");
    }

    private ModelRequest thinking(List<Message> said, ModelOptions options) {
        return new ModelRequest(
                model(),
                Optional.empty(),
                said,
                List.of(ToolSpec.java("weather").build()),
                3_000,
                options);
    }

    @Test
    void progress_ignoresPings() {
        String ping = "{\"type\":\"ping\"}";
        String start = "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}";
        String thought = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}";
        String fragment = "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
                + "\"thinking\":\"Hm\"}}";
        String call = "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\","
                + "\"id\":\"tu_1\",\"name\":\"weather\",\"input\":{}}}";
        String arguments = "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
                + "\"partial_json\":\"{\"}}";

        assertThat(progress(ping, ping)).isZero();
        assertThat(progress(start, ping, ping)).isEqualTo(1);
        assertThat(progress(start, ping, thought, ping, fragment, fragment, ping, call, ping, arguments, ping))
                .isEqualTo(6);
    }
}
