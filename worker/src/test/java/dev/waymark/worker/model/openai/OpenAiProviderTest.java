package dev.waymark.worker.model.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenAiProviderTest extends OpenAiWireCases {
    @Override
    protected ModelServer newServer() {
        return new OpenAiServer();
    }

    @Override
    protected ModelProvider newProvider(Map<String, String> environment) {
        return OpenAiProvider.of(environment);
    }

    @Override
    protected String errorEvent(String type, String message) {
        return errorBody(type, message);
    }

    @Test
    void toolsRefusedWithReasoning_failWithTheLineToWrite() {
        ModelRequest request = new ModelRequest(
                        "gpt-5.4",
                        Optional.empty(),
                        List.of(Message.user("Hi")),
                        List.of(ToolSpec.java("look").build()),
                        100)
                .to("gpt-5.4", ModelOptions.NONE.withEffort("low"));

        try (ModelServer strict = new OpenAiServer()) {
            ModelProvider provider = OpenAiProvider.of(strict.environment());
            ModelFailure failure = catchThrowableOfType(ModelFailure.class, () -> provider.reply(request));

            assertThat(failure.type()).isEqualTo("BadRequest");
            assertThat(failure)
                    .hasMessageContaining(
                            "In the agent file, write model: openai-responses:gpt-5.4, or options: { effort: none }");
        }
    }

    private static final String OLD_LIMIT_REFUSED =
            "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not"
                    + " supported with this model. Use 'max_completion_tokens' instead.\",\"type\":\"invalid_request_error\","
                    + "\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\"}}";

    @ParameterizedTest
    @ValueSource(
            strings = {
                OLD_LIMIT_REFUSED,
                "{\"error\":{\"message\":\"Unrecognized request argument supplied: max_tokens\",\"code\":null}}",
                "{\"detail\":\"max_tokens: Extra inputs are not permitted\"}"
            })
    void limit_refusedUnderTheOlderName_usesTheNewerFromThenOn(String refusal) throws Exception {
        ModelAnswer hello = ModelAnswer.says("Hello");
        server().answers(asked -> asked.body().has("max_tokens") ? ModelAnswer.error(400, refusal) : hello);

        for (int turn = 0; turn < 2; turn++) {
            assertThat(provider().reply(request(List.of(Message.user("Hi")))).content())
                    .containsExactly(new Part.Text("Hello"));
        }
        assertThat(server().received().stream()
                        .map(asked -> asked.body().has("max_completion_tokens"))
                        .toList())
                .containsExactly(false, true, true);
    }

    @Test
    void limit_refusedForItsValue_isNotRetried() {
        server().answers(ModelAnswer.error(400, errorBody("invalid_value", "max_tokens must be at most 10")));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.type()).isEqualTo("BadRequest");
        assertThat(server().received()).hasSize(1);
    }

    @Test
    void limit_refusedUnderBothNames_failsWithTheServersError() {
        server().answers(ModelAnswer.error(400, OLD_LIMIT_REFUSED));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.type()).isEqualTo("BadRequest");
        assertThat(server().received()).hasSize(2);
    }

    @Test
    void errorCode_numeric_isAStatus() {
        ModelFailure failure = failure(ModelAnswer.events("{\"error\":{\"code\":503,\"message\":\"Later.\"}}"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Overloaded", true));
    }

    @Test
    void contentFilter_isARefusal() {
        ModelFailure failure = failure(ModelAnswer.says("I").stopping("content_filter"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Refused", false));
    }

    @Test
    void refusal_isAFailureWithItsText() {
        ModelFailure failure = failure(
                ModelAnswer.says().plus(new ModelAnswer.Piece.Strange("{\"refusal\":\"I can't help with that.\"}")));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Refused", false));
        assertThat(failure.getMessage()).contains("I can't help with that.");
    }

    @Test
    void calls_withTheSameIndex_areDistinguished() throws Exception {
        assertThat(reply(ModelAnswer.events(
                        call(0, "a", "weather", "{\\\"city\\\":\\\"Oslo\\\"}"),
                        call(0, "b", "weather", "{\\\"city\\\":\\\"Bern\\\"}"),
                        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}",
                        "[DONE]")))
                .isEqualTo(Reply.of(
                        new Part.ToolUse("a", "weather", Json.of(Map.of("city", "Oslo"))),
                        new Part.ToolUse("b", "weather", Json.of(Map.of("city", "Bern")))));
    }

    /** Some services send calls without ids and indexes, and with complete arguments. */
    @Test
    void calls_withoutIdsAndIndexes_areDistinguished() throws Exception {
        assertThat(reply(ModelAnswer.events(
                                "{\"choices\":[{\"delta\":{\"tool_calls\":["
                                        + "{\"function\":{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}},"
                                        + "{\"id\":null,\"function\":{\"name\":\"weather\",\"arguments\":\"{}\"}},null]}},null]}",
                                "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"))
                        .content())
                .containsExactly(
                        new Part.ToolUse("", "weather", Json.of(Map.of("city", "Oslo"))),
                        new Part.ToolUse("", "weather", Json.EMPTY_OBJECT));
    }

    /** Google's compatible service requires its signatures back, and rejects the step after a call without them. */
    @Test
    void signaturesOfCalls_areSentBackToTheirModelOnly() throws Exception {
        Reply signed = reply(ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Strange("{\"tool_calls\":[{\"index\":7,\"id\":\"a\","
                        + "\"function\":{\"name\":\"weather\",\"arguments\":\"{}\"},"
                        + "\"extra_content\":{\"google\":{\"thought_signature\":\"c2ln\"}}}]}"))
                .calls("b", "weather", "{}"));
        List<Message> said = List.of(
                Message.user("Weather?"),
                new Message(Role.ASSISTANT, signed.content()),
                Message.results(
                        List.of(new Part.ToolResult("a", "rain", false), new Part.ToolResult("b", "sun", false))));

        server().answers(ModelAnswer.says("Both."));
        provider().reply(request(said));
        ModelRequest elsewhere = new ModelRequest(
                "another-model", Optional.empty(), said, request(said).tools(), 10);
        provider().reply(elsewhere);

        JsonNode calls = server().received().get(1).body().at("/messages/2/tool_calls");
        assertThat(calls.path(0).at("/extra_content/google/thought_signature").asText())
                .isEqualTo("c2ln");
        assertThat(calls.path(1).has("extra_content")).isFalse();
        assertThat(server().received().get(2).body().toString()).doesNotContain("c2ln", "extra_content");
    }

    @Test
    void content_asAList_isReadAsItsTexts() throws Exception {
        assertThat(reply(ModelAnswer.events(
                        "{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
                                + "[{\"type\":\"text\",\"text\":\"Hm.\"}]}]}}]}",
                        "{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"He\"}]}}]}",
                        "{\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":\"stop\"}]}")))
                .isEqualTo(Reply.of(new Part.Text("Hello")));
    }

    @Test
    void error_asASeparateEvent_isThatError() {
        ModelFailure failure = failure(ModelAnswer.events(
                "{\"object\":\"error\",\"message\":\"This model's maximum context length is 9.\",\"code\":400}",
                "[DONE]"));

        assertThat(failure.type()).isEqualTo("ContextWindowExceeded");
    }

    @Test
    void finishReason_error_isRetryable() {
        ModelFailure failure = failure(ModelAnswer.says("Hel").stopping("error"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("ServerError", true));
        assertThat(failure).hasMessage("openai ended the stream with an error");
    }

    @Test
    void stream_finishedWithoutDone_isComplete() throws Exception {
        assertThat(reply(ModelAnswer.events(
                        "{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}",
                        "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}")))
                .isEqualTo(Reply.of(new Part.Text("Hi")));
    }

    @Test
    void stream_doneWithoutAFinishReason_isACutStream() {
        ModelFailure failure =
                failure(ModelAnswer.events("{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}", "[DONE]"));

        assertThat(failure.type()).isEqualTo("StreamCut");
    }

    @Test
    void options_areSentWithTheNamesOfTheApi() throws Exception {
        server().answers(ModelAnswer.says("Hello."));
        ModelOptions options =
                ModelOptions.NONE.withTemperature(0).withEffort("low").withServiceTier("flex");

        provider().reply(request(List.of(Message.user("Hi"))).to(model(), options));
        provider().reply(request(List.of(Message.user("Hi"))));

        JsonNode body = server().received().get(0).body();
        assertThat(body.path("temperature").asDouble(-1)).isZero();
        assertThat(List.of(
                        body.path("reasoning_effort").asText(),
                        body.path("service_tier").asText()))
                .containsExactly("low", "flex");
        assertThat(server().received().get(1).body().fieldNames())
                .toIterable()
                .doesNotContain("temperature", "reasoning_effort", "service_tier");
    }

    private static String call(int index, String id, String name, String arguments) {
        return "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":" + index + ",\"id\":\"" + id
                + "\",\"function\":{\"name\":\"" + name + "\",\"arguments\":\"" + arguments + "\"}}]}}]}";
    }

    @Test
    void progress_ignoresEmptyChunks() {
        String begun = delta("{\"role\":\"assistant\",\"content\":\"\"}");
        String empty = delta("{\"content\":\"\"}");
        String nothing = "{\"choices\":[]}";
        String thought = delta("{\"reasoning_content\":\"Hm\"}");
        String call = delta("{\"tool_calls\":[{\"index\":0,\"id\":\"tu_1\",\"function\":{\"name\":\"weather\"}}]}");
        String arguments = delta("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\"}}]}");

        assertThat(progress(nothing, nothing)).isZero();
        assertThat(progress(begun, empty, nothing, empty)).isEqualTo(1);
        assertThat(progress(begun, empty, thought, thought, nothing, call, empty, arguments, empty))
                .isEqualTo(5);
    }

    private static String delta(String delta) {
        return "{\"choices\":[{\"index\":0,\"delta\":" + delta + "}]}";
    }
}
