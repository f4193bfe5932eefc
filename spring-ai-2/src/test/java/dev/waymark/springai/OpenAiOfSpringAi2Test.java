package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.testkit.model.ModelAnswer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.ToolCallback;

@Tag("full")
class OpenAiOfSpringAi2Test extends SpringAiCases {
    @Override
    ModelServer newServer() {
        return new OpenAiServer();
    }

    /** OkHttp itself repeats a request after status 408. */
    @Override
    int requests(int status) {
        return status == 408 ? 2 : 1;
    }

    @Override
    ChatModel model(String address, List<ToolCallback> tools) {
        return model(options(address).toolCallbacks(tools).build());
    }

    private static OpenAiChatOptions.Builder options(String address) {
        return OpenAiChatOptions.builder()
                .baseUrl(address + "/v1")
                .apiKey(ModelServer.KEY)
                .model("gpt-test")
                .streamUsage(true)
                .maxRetries(0);
    }

    private static ChatModel model(OpenAiChatOptions options) {
        return OpenAiChatModel.builder().options(options).build();
    }

    @Override
    String errorBody(String message) {
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"some_type\",\"param\":null,\"code\":null}}";
    }

    @Override
    @ParameterizedTest
    @MethodSource("silences")
    protected void interruption_ofASilentService_closesTheConnection(String sent) throws Exception {
        assumeFalse(sent.equals("nothing"), "until headers arrive, OpenAI's client cannot close a stream");
        super.interruption_ofASilentService_closesTheConnection(sent);
    }

    private JsonNode sent() {
        return server().received().get(0).body();
    }

    @Test
    void failure_retryAfter_isKept() {
        server().answers(asked -> ModelAnswer.error(429, errorBody("slowly")).with("Retry-After", "7"));

        assertThat(failure(provider()).retryAfter()).contains(Duration.ofSeconds(7));
    }

    @Test
    void reply_cachedTokens_arePartOfTheInput() throws Exception {
        server().answers(ModelAnswer.events(
                chunk("{\"content\":\"Hi\"}", "null"),
                chunk("{}", "\"stop\""),
                "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],"
                        + "\"usage\":{\"prompt_tokens\":90,\"completion_tokens\":7,\"total_tokens\":97,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":64}}}",
                "[DONE]"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(List.of(new Part.Text("Hi")), new Usage(90, 7, 64, 0), "end_turn"));
    }

    private static String chunk(String delta, String reason) {
        return "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":["
                + "{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":" + reason + "}]}";
    }

    @Test
    void request_modelWithLimitForReasoning_keepsIt() throws Exception {
        stage(ModelAnswer.says("Fine."));
        ChatModel model =
                model(options(server().address()).maxCompletionTokens(900).build());

        SpringAiProvider.of(Map.of("tested", model)).reply(request(List.of(Message.user("Hi"))));

        assertThat(sent().path("max_completion_tokens").asInt()).isEqualTo(900);
    }

    @Test
    void request_asSent_hasTheToolsAndTheOptionsOfTheModel() throws Exception {
        stage(ModelAnswer.says("Fine."));
        ChatModel model = model(options(server().address()).temperature(0.25).build());

        SpringAiProvider.of(Map.of("tested", model)).reply(request(List.of(Message.user("Hi"))));

        assertThat(sent().path("model").asText()).isEqualTo("gpt-test");
        assertThat(sent().path("temperature").asDouble()).isEqualTo(0.25);
        assertThat(sent().path("tools"))
                .extracting(tool -> tool.path("function").path("name").asText())
                .containsExactly("weather", "ask_user");
        assertThat(sent().path("messages").get(0).path("content").asText()).isEqualTo("Be brief.");
    }

    @Test
    void check_modelThatRetries_isRefused() {
        ChatModel model = model(options(server().address()).maxRetries(3).build());

        assertThatThrownBy(() -> SpringAiProvider.of(Map.of("tested", model)).check("tested"))
                .hasMessageStartingWith("the model tested retries up to 3 times by itself, unseen by Temporal");
    }
}
