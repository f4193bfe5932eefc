package dev.waymark.springai;

import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelProvider;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.anthropic.api.AnthropicApi;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tool.ToolCallback;

@Tag("full")
class SpringAiAnthropicTest extends SpringAiAnthropicCases {
    @Override
    ChatModel model(String address, List<ToolCallback> tools) {
        return AnthropicChatModel.builder()
                .anthropicApi(AnthropicApi.builder()
                        .baseUrl(address)
                        .apiKey(ModelServer.KEY)
                        .build())
                .defaultOptions(AnthropicChatOptions.builder()
                        .model("claude-test")
                        .toolCallbacks(tools)
                        .build())
                .build();
    }

    /** Before the first response, Spring AI's Anthropic model does not pass a cancellation on to the HTTP client. */
    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.empty();
    }
}
