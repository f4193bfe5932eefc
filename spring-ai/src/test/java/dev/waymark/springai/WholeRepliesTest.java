package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.api.OpenAiApi;
import org.springframework.retry.support.RetryTemplate;

/** Spring AI's OpenAI model with a service that does not stream. */
@Tag("full")
class WholeRepliesTest {
    private static final ModelRequest HI =
            new ModelRequest("small", Optional.empty(), List.of(Message.user("Hi")), List.of(), 100);

    private final AtomicInteger asked = new AtomicInteger();
    private HttpServer service;

    @BeforeEach
    void startService() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.start();
    }

    @AfterEach
    void stopService() {
        service.stop(0);
    }

    private void answers(int status, String body) {
        service.createContext("/", exchange -> {
            asked.incrementAndGet();
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
    }

    private SpringAiProvider provider() {
        return SpringAiProvider.of(Map.of("small", model())).withoutStreaming("small");
    }

    private OpenAiChatModel model() {
        return OpenAiChatModel.builder()
                .openAiApi(OpenAiApi.builder()
                        .baseUrl("http://127.0.0.1:" + service.getAddress().getPort())
                        .apiKey("none")
                        .build())
                .defaultOptions(OpenAiChatOptions.builder().model("small").build())
                .retryTemplate(RetryTemplate.builder().maxAttempts(1).build())
                .build();
    }

    @Test
    void reply_complete_hasTextCallsAndUsage() throws Exception {
        answers(
                200,
                "{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"small\",\"choices\":[{\"index\":0,"
                        + "\"finish_reason\":\"tool_calls\",\"message\":{\"role\":\"assistant\",\"content\":\"Hm.\","
                        + "\"tool_calls\":[{\"id\":\"tu_1\",\"type\":\"function\",\"function\":{\"name\":\"weather\","
                        + "\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}}]}}],"
                        + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3,\"total_tokens\":8}}");

        assertThat(provider().reply(HI))
                .isEqualTo(new Reply(
                        List.of(
                                new Part.Text("Hm."),
                                new Part.ToolUse("tu_1", "weather", Json.of(Map.of("city", "Oslo")))),
                        new Usage(5, 3),
                        "tool_use"));
    }

    @Test
    void failure_ofAnAttempt_isClassified() {
        answers(503, "{\"error\":{\"message\":\"busy\"}}");

        assertThat(catchThrowableOfType(ModelFailure.class, () -> provider().reply(HI)))
                .returns("Overloaded", ModelFailure::type)
                .returns(true, ModelFailure::retryable);
        assertThat(asked).hasValue(1);
    }

    @Test
    void reply_modelThatDoesNotStream_isRefused() {
        ChatModel model = model()::call;

        assertThat(catchThrowableOfType(
                        ModelFailure.class,
                        () -> SpringAiProvider.of(Map.of("small", model)).reply(HI)))
                .returns(false, ModelFailure::retryable)
                .hasMessage("the model small does not stream. Build it with a RetryTemplate of one attempt, and name it"
                        + " in SpringAiProvider.withoutStreaming");
        assertThat(asked).hasValue(0);
    }

    @Test
    void withoutStreaming_unknownModel_isRefused() {
        assertThatThrownBy(() -> provider().withoutStreaming("large"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no model large. Known models: small");
    }
}
