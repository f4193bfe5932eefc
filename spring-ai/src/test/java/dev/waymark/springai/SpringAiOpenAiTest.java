package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.SilentServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.api.OpenAiApi;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;

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
        return model(address, options, WebClient.builder().clientConnector(new JdkClientHttpConnector()));
    }

    private static ChatModel model(String address, OpenAiChatOptions options, WebClient.Builder http) {
        return OpenAiChatModel.builder()
                .openAiApi(OpenAiApi.builder()
                        .baseUrl(address)
                        .apiKey(ModelServer.KEY)
                        .webClientBuilder(http)
                        .build())
                .defaultOptions(options)
                .build();
    }

    private static ModelProvider provider(String address, WebClient.Builder http) {
        return SpringAiProvider.of(Map.of("tested", model(address, options().build(), http)));
    }

    private static WebClient.Builder netty() {
        return WebClient.builder().clientConnector(new ReactorClientHttpConnector());
    }

    /** Uses Reactor Netty, which applications use if it is on their class path. */
    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.of(provider(address, netty()));
    }

    /**
     * Interrupts the call only when the body is being read. If a call is cancelled between the headers and the body,
     * its connection stays open: Spring's connector reads the body to its end instead of closing the connection.
     */
    @Override
    @ParameterizedTest
    @MethodSource("silences")
    protected void interruption_ofASilentService_closesTheConnection(String sent) throws Exception {
        if (sent.equals("nothing")) {
            super.interruption_ofASilentService_closesTheConnection(sent);
            return;
        }
        try (SilentServer silent = SilentServer.streaming("", sent.equals("headers") ? "" : ": keep-alive\n\n")) {
            CountDownLatch reading = new CountDownLatch(1);
            WebClient.Builder http = netty().filter((request, next) -> next.exchange(request)
                    .map(response -> response.mutate()
                            .body(body -> body.doOnSubscribe(subscription -> reading.countDown()))
                            .build()));

            interrupt(provider(silent.address(), http), words -> {}, reading, silent);

            silent.awaitDisconnects(1);
        }
    }

    @Test
    void interruption_ofAServiceSilentAfterItsFirstWords_closesTheConnection() throws Exception {
        String words = "data: " + chunk("{\"content\":\"Hi\"}", "null") + "\n\n";
        try (SilentServer silent = SilentServer.streaming(words + words, "")) {
            CountDownLatch begun = new CountDownLatch(1);

            interrupt(provider(silent.address(), netty()), piece -> begun.countDown(), begun, silent);

            silent.awaitDisconnects(1);
        }
    }

    /**
     * With this client, no connection is closed once headers have arrived: Spring's connector shares the body among
     * subscribers, and continues reading after the last one has left.
     */
    @Test
    void interruption_withJdkClient_closesAConnectionWithoutHeaders() throws Exception {
        try (SilentServer silent = SilentServer.mute()) {
            WebClient.Builder jdk = WebClient.builder().clientConnector(new JdkClientHttpConnector());

            interrupt(provider(silent.address(), jdk), words -> {}, new CountDownLatch(0), silent);

            silent.awaitDisconnects(1);
        }
    }

    /** Interrupts a call once the service has the request and {@code begun} has been counted down. */
    private void interrupt(ModelProvider provider, ReplyListener listener, CountDownLatch begun, SilentServer silent)
            throws InterruptedException {
        FutureTask<Reply> reply =
                new FutureTask<>(() -> provider.reply(request(List.of(Message.user("Hi"))), listener));
        Thread thread = new Thread(reply);
        thread.start();
        silent.awaitRequests(1);
        begun.await();

        thread.interrupt();

        assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                .hasCauseInstanceOf(InterruptedException.class);
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
