package dev.waymark.worker.model.anthropic;

import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.ObjectMappers;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.helpers.BetaMessageAccumulator;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.beta.AnthropicBeta;
import com.anthropic.models.beta.messages.BetaMessage;
import com.anthropic.models.beta.messages.BetaRawMessageStreamEvent;
import com.anthropic.models.beta.messages.BetaThinkingBlockBinding;
import com.anthropic.models.beta.messages.BetaThinkingConfigAdaptive;
import com.anthropic.models.beta.messages.BetaThinkingDroppedInputTransformation;
import com.anthropic.models.beta.messages.BetaThinkingDroppedInputTransformation.Reason;
import com.anthropic.models.beta.messages.BetaThinkingPrefixMismatchBehavior;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.StopReason;
import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.model.http.ClientReading;
import dev.waymark.worker.model.http.GoldenRequest;
import dev.waymark.worker.model.http.WireConversation;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Anthropic's own client for Java reads our requests, and the answers of our strict server. */
class AnthropicClientTest {
    private static final String MODEL = "claude-opus-5-5";

    private static ModelRequest rich() {
        Json signed = WireConversation.ordered("{'type':'thinking','signature':'c2ln'}");
        Json redacted = WireConversation.ordered("{'type':'redacted_thinking','data':'c2VhbGVk'}");
        return WireConversation.rich(
                MODEL,
                OpaqueBlock.reasoning(MODEL, "Hm.", signed),
                OpaqueBlock.reasoning(MODEL, "", redacted),
                ModelOptions.NONE
                        .withThinking("adaptive")
                        .withEffort("high")
                        .withServiceTier("standard_only")
                        .withParallelCalls(false));
    }

    @Test
    void request_readByTheClient_hasNoUnknownProperties() throws Exception {
        MessageCreateParams.Body body = ClientReading.read(
                AnthropicMapper.request(rich()), ObjectMappers.jsonMapper(), MessageCreateParams.Body.class);

        body.validate();
        assertThat(ClientReading.unknown(body))
                .containsExactly(
                        // Arguments and schemas are those of tools.
                        "JsonOutputFormat.Schema.additionalProperties",
                        "JsonOutputFormat.Schema.properties",
                        "JsonOutputFormat.Schema.required",
                        "JsonOutputFormat.Schema.type",
                        // The client sends it from another method.
                        "MessageCreateParams.Body.stream",
                        "ToolUseBlockParam.Input.at",
                        "ToolUseBlockParam.Input.city",
                        "ToolUseBlockParam.Input.invalid_arguments",
                        "ToolUseBlockParam.Input.when");
    }

    @Test
    void request_equalsTheRecordedOne() throws Exception {
        GoldenRequest.check("anthropic.json", AnthropicMapper.request(rich()));
    }

    private static AnthropicClient clientOf(AnthropicServer server) {
        return AnthropicOkHttpClient.builder()
                .baseUrl(server.address())
                .apiKey(ModelServer.KEY)
                .maxRetries(0)
                .build();
    }

    private static MessageCreateParams.Builder hello() {
        return MessageCreateParams.builder().model(MODEL).maxTokens(100).addUserMessage("Hi");
    }

    private static Message ask(AnthropicClient client, MessageCreateParams request) {
        MessageAccumulator whole = MessageAccumulator.create();
        try (StreamResponse<RawMessageStreamEvent> events = client.messages().createStreaming(request)) {
            events.stream().forEach(whole::accumulate);
        }
        return whole.message().validate();
    }

    @Test
    void answers_areReadByTheClientAndSentBackLikeIts() {
        try (AnthropicServer server = new AnthropicServer().namingCallers()) {
            AnthropicClient client = clientOf(server);
            server.answers(ModelAnswer.says()
                    .plus(new Piece.Thought("", "c2ln"))
                    .plus(new Piece.Words("One "))
                    .plus(new Piece.Words("moment."))
                    .plus(new Piece.Strange("{\"type\":\"redacted_thinking\",\"data\":\"c2VhbGVk\"}"))
                    .using(7, 3)
                    .stopping("pause_turn"));

            Message paused = ask(client, hello().build());
            Message next = ask(client, hello().addMessage(paused).build());
            Message last = ask(
                    client,
                    hello().addMessage(paused)
                            .addMessage(next)
                            .addUserMessage("Go on.")
                            .build());

            assertThat(server.complaints()).isEmpty();
            assertThat(server.dropped()).isEmpty();
            assertThat(last.stopReason()).contains(StopReason.PAUSE_TURN);
            assertThat(last.usage().inputTokens()).isEqualTo(7);
            assertThat(last.content()).hasSize(3);
            assertThat(last.content().get(1).asText().text()).isEqualTo("One moment.");
        }
    }

    @Test
    void droppedThinking_isReadByTheClient() {
        try (AnthropicServer server = new AnthropicServer()) {
            AnthropicClient client = clientOf(server);
            server.answers(
                    ModelAnswer.says().plus(new Piece.Thought("Hm.", "c2ln")).plus(new Piece.Words("Yes.")));
            BetaMessage thoughtful = askBeta(client, request -> {});

            BetaMessage message = askBeta(
                    client,
                    request -> request.system("Be kind.")
                            .addMessage(thoughtful)
                            .addUserMessage("Go on.")
                            .addBeta(AnthropicBeta.THINKING_BINDING_CONTROLS_2026_08_01)
                            .thinking(BetaThinkingConfigAdaptive.builder()
                                    .blockBinding(BetaThinkingBlockBinding.builder()
                                            .prefixMismatchBehavior(BetaThinkingPrefixMismatchBehavior.DROP_BLOCK)
                                            .build())
                                    .build()));

            BetaThinkingDroppedInputTransformation lost =
                    message.inputTransformations().orElseThrow().get(0).asThinkingDropped();
            assertThat(lost.path()).isEqualTo("messages.1.content.0");
            assertThat(lost.reason()).isEqualTo(Reason.PREFIX_BINDING_MISMATCH);
        }
    }

    private static BetaMessage askBeta(
            AnthropicClient client, Consumer<com.anthropic.models.beta.messages.MessageCreateParams.Builder> change) {
        com.anthropic.models.beta.messages.MessageCreateParams.Builder request =
                com.anthropic.models.beta.messages.MessageCreateParams.builder()
                        .model(MODEL)
                        .maxTokens(100)
                        .addUserMessage("Hi");
        change.accept(request);
        BetaMessageAccumulator whole = BetaMessageAccumulator.create();
        try (StreamResponse<BetaRawMessageStreamEvent> events =
                client.beta().messages().createStreaming(request.build())) {
            events.stream().forEach(whole::accumulate);
        }
        return whole.message().validate();
    }
}
