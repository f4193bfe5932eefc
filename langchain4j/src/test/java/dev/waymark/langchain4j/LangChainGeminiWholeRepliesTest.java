package dev.waymark.langchain4j;

import dev.langchain4j.model.googleai.GoogleAiGeminiChatModel;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.Map;
import org.junit.jupiter.api.Tag;

@Tag("full")
class LangChainGeminiWholeRepliesTest extends LangChainGeminiCases {
    @Override
    protected ModelProvider provider() {
        return LangChainProvider.of(Map.of("tested", whole(server().address(), 0)));
    }

    @Override
    Object thinkingModel(String name) {
        return GoogleAiGeminiChatModel.builder()
                .baseUrl(server().address() + "/v1beta")
                .apiKey(ModelServer.KEY)
                .modelName(name)
                .returnThinking(true)
                .sendThinking(true)
                .maxRetries(0)
                .build();
    }

    @Override
    ModelAnswer candidate(String content, String finishReason, String usage) {
        return ModelAnswer.events("{\"candidates\":[{\"content\":" + content + ",\"finishReason\":\"" + finishReason
                        + "\",\"index\":0}],\"usageMetadata\":" + usage + "}")
                .as("application/json");
    }

    @Override
    ModelAnswer unreadable(String body) {
        return ModelAnswer.events(body).as("application/json");
    }
}
