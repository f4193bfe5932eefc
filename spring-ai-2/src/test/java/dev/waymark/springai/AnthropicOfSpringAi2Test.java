package dev.waymark.springai;

import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelProvider;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tool.ToolCallback;

@Tag("full")
class AnthropicOfSpringAi2Test extends SpringAiAnthropicCases {
    /** OkHttp itself repeats a request after status 408. */
    @Override
    int requests(int status) {
        return status == 408 ? 2 : 1;
    }

    @Override
    ChatModel model(String address, List<ToolCallback> tools) {
        return AnthropicChatModel.builder()
                .options(AnthropicChatOptions.builder()
                        .baseUrl(address)
                        .apiKey(ModelServer.KEY)
                        .model("claude-test")
                        .maxRetries(0)
                        .toolCallbacks(tools)
                        .build())
                .build();
    }

    /** Spring AI's Anthropic model does not pass a cancellation on to the client. */
    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.empty();
    }
}
