package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelServer;
import dev.waymark.testkit.model.OpenAiServer;
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
import org.springframework.ai.openai.api.OpenAiApi;
import org.springframework.ai.tool.ToolCallback;

@Tag("full")
class SpringAiOpenAiTest extends SpringAiCases {
    @Override
    ModelServer newServer() {
        return new OpenAiServer();
    }

    @Override
    ChatModel model(String address, List<ToolCallback> tools) {
        return model(address, options().toolCallbacks(tools).build());
    }

    private static OpenAiChatOptions.Builder options() {
        return OpenAiChatOptions.builder().model("gpt-test").streamUsage(true);
    }

    private static ChatModel model(String address, OpenAiChatOptions options) {
        return OpenAiChatModel.builder()
                .openAiApi(OpenAiApi.builder()
                        .baseUrl(address)
                        .apiKey(ModelServer.KEY)
                        .build())
                .defaultOptions(options)
                .build();
    }

    /** The JDK's HTTP client closes the connection of a cancelled body with the next byte that arrives. */
    @Override
    @ParameterizedTest
    @MethodSource("silences")
    protected void interruption_ofASilentService_closesTheConnection(String sent) throws Exception {
        assumeFalse(sent.equals("headers"), "no byte arrives");
        super.interruption_ofASilentService_closesTheConnection(sent);
    }

    @Override
    String errorBody(String message) {
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"some_type\",\"param\":null,\"code\":null}}";
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
                "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[],\"usage\":"
                        + "{\"prompt_tokens\":90,\"completion_tokens\":7,\"total_tokens\":97,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":64}}}",
                "[DONE]"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(List.of(new Part.Text("Hi")), new Usage(90, 7, 64, 0), "end_turn"));
    }

    private static String chunk(String delta, String reason) {
        return "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":"
                + delta + ",\"finish_reason\":" + reason + "}]}";
    }

    @Test
    void reply_refusal_isAFailure() {
        stage(ModelAnswer.says("I ").stopping("content_filter"));

        assertThat(failure(provider()).type()).isEqualTo("Refused");
    }

    @Test
    void request_modelWithLimitForReasoning_keepsIt() throws Exception {
        stage(ModelAnswer.says("Fine."));
        ChatModel model =
                model(server().address(), options().maxCompletionTokens(900).build());

        SpringAiProvider.of(Map.of("tested", model)).reply(request(List.of(Message.user("Hi"))));

        assertThat(server().received()
                        .get(0)
                        .body()
                        .path("max_completion_tokens")
                        .asInt())
                .isEqualTo(900);
    }

    @Test
    void request_asSent_hasTheToolsAndTheOptionsOfTheModel() throws Exception {
        stage(ModelAnswer.says("Fine."));
        ChatModel model = model(server().address(), options().temperature(0.25).build());

        SpringAiProvider.of(Map.of("tested", model)).reply(request(List.of(Message.user("Hi"))));

        assertThat(server().received().get(0).body().path("temperature").asDouble())
                .isEqualTo(0.25);
        assertThat(server().received().get(0).body().path("tools"))
                .extracting(tool -> tool.path("function").path("name").asText())
                .containsExactly("weather", "ask_user");
        assertThat(server().received()
                        .get(0)
                        .body()
                        .path("messages")
                        .get(0)
                        .path("content")
                        .asText())
                .isEqualTo("Be brief.");
    }
}
