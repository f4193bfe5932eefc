package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.googleai.GoogleAiGeminiStreamingChatModel;
import dev.waymark.conversation.message.Message;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class LangChainGeminiTest extends LangChainGeminiCases {
    @Override
    Object thinkingModel(String name) {
        return GoogleAiGeminiStreamingChatModel.builder()
                .baseUrl(server().address() + "/v1beta")
                .apiKey(ModelServer.KEY)
                .modelName(name)
                .returnThinking(true)
                .sendThinking(true)
                .build();
    }

    @Override
    ModelAnswer candidate(String content, String finishReason, String usage) {
        return ModelAnswer.events(
                "{\"candidates\":[{\"content\":" + content + ",\"index\":0}],\"usageMetadata\":" + usage + "}",
                "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"\"}]},\"finishReason\":\""
                        + finishReason + "\"}],\"usageMetadata\":" + usage + "}");
    }

    @Override
    ModelAnswer unreadable(String body) {
        return ModelAnswer.events(body);
    }

    /** An agent's silence limit does not end a reply that consists of many calls. */
    @Test
    void progress_ofCalls_isReported() throws Exception {
        stage(ModelAnswer.says().calls("tu_1", "weather", "{}").calls("tu_2", "weather", "{}"));
        AtomicInteger progress = new AtomicInteger();

        provider().reply(request(List.of(Message.user("Hi"))), new ReplyListener() {
            @Override
            public void words(String piece) {}

            @Override
            public void progress() {
                progress.incrementAndGet();
            }
        });

        assertThat(progress).hasValue(2);
    }
}
