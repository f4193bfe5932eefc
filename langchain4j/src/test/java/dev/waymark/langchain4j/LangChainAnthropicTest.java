package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class LangChainAnthropicTest extends LangChainCases {
    @Override
    ModelServer newServer() {
        return new AnthropicServer();
    }

    @Override
    StreamingChatModel streaming(String address) {
        return AnthropicStreamingChatModel.builder()
                .baseUrl(address + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("claude-test")
                .build();
    }

    @Override
    ChatModel whole(String address, int retries) {
        return AnthropicChatModel.builder()
                .baseUrl(address + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("claude-test")
                .maxRetries(retries)
                .build();
    }

    @Override
    String firstWords() {
        return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\","
                + "\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
                + "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
                + "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
                + "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                + "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n";
    }

    /** Older models reject the step after a call if the thinking that led to the call is missing. */
    @Test
    void thinking_olderModel_isSentBack() throws Exception {
        JsonNode step = stepAfterThinking(AnthropicStreamingChatModel.builder()
                .modelName("claude-sonnet-4-5")
                .thinkingType("enabled")
                .thinkingBudgetTokens(1024));

        assertThat(step.at("/content/0").toString())
                .isEqualTo("{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"c2ln\"}");
    }

    /** Newer models reject thinking that has changed, and accept the step without it. */
    @Test
    void thinking_currentModel_isNotSentBack() throws Exception {
        JsonNode step = stepAfterThinking(AnthropicStreamingChatModel.builder()
                .modelName("claude-opus-5-5")
                .thinkingType("adaptive"));

        assertThat(step.at("/content").findValuesAsText("type")).containsExactly("tool_use");
    }

    /** The model's message in the request that follows its call. */
    private JsonNode stepAfterThinking(AnthropicStreamingChatModel.AnthropicStreamingChatModelBuilder model)
            throws Exception {
        server().answers(
                        ModelAnswer.says()
                                .plus(new ModelAnswer.Piece.Thought("Hm.", "c2ln"))
                                .calls("tu_1", "weather", "{}"),
                        ModelAnswer.says("Fine."));
        ModelProvider provider = LangChainProvider.of(Map.of(
                "tested",
                model.baseUrl(server().address() + "/v1")
                        .apiKey(ModelServer.KEY)
                        .returnThinking(true)
                        .sendThinking(true)
                        .build()));
        ToolSpec weather = ToolSpec.java("weather").build();
        Message question = Message.user("Weather?");

        Reply reply =
                provider.reply(new ModelRequest("tested", Optional.empty(), List.of(question), List.of(weather), 4000));
        Message step = new Message(Role.ASSISTANT, reply.content());
        Message result = Message.results(List.of(new Part.ToolResult("tu_1", "rain", false)));
        provider.reply(
                new ModelRequest("tested", Optional.empty(), List.of(question, step, result), List.of(weather), 4000));

        return server().received().get(1).body().at("/messages/1");
    }

    /** LangChain4j does not report that an Anthropic stream breaks off, so only the silence limit ends the call. */
    @Override
    @Test
    void reply_brokenOff_isNotTakenForWhole() throws Exception {
        server().answers(asked -> ModelAnswer.says("One ", "two ", "three").cutAfter(2));
        CountDownLatch words = new CountDownLatch(2);
        FutureTask<Reply> reply = new FutureTask<>(
                () -> provider().reply(request(List.of(Message.user("Hi"))), piece -> words.countDown()));
        Thread thread = new Thread(reply);
        thread.start();
        words.await();

        thread.interrupt();

        assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                .hasCauseInstanceOf(InterruptedException.class);
    }

    @Override
    String errorBody(String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"some_error\",\"message\":\"" + message + "\"}}";
    }
}
