package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.waymark.conversation.message.Message;
import dev.waymark.testkit.model.AnthropicServer;
import dev.waymark.testkit.model.HardTranscripts;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelServer;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("full")
class LangChainAnthropicTest extends LangChainCases {
    @Override
    ModelServer newServer() {
        return new AnthropicServer();
    }

    @Override
    StreamingChatModel streaming(ModelServer server) {
        return AnthropicStreamingChatModel.builder()
                .baseUrl(server.environment().get("ANTHROPIC_BASE_URL") + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("claude-test")
                .build();
    }

    @Override
    ChatModel whole(ModelServer server, int retries) {
        return AnthropicChatModel.builder()
                .baseUrl(server.environment().get("ANTHROPIC_BASE_URL") + "/v1")
                .apiKey(ModelServer.KEY)
                .modelName("claude-test")
                .maxRetries(retries)
                .build();
    }

    /**
     * LangChain4j sends the words behind results as a second message of the user. The real service joins the two, which
     * this strict one does not do.
     */
    @Override
    @ParameterizedTest
    @MethodSource("hardTranscripts")
    protected void transcript_soundButHard_isAnswered(String name) throws Exception {
        if (!name.equals("results, and then a word of a person")) {
            super.transcript_soundButHard_isAnswered(name);
            return;
        }
        expectComplaint();
        stage(ModelAnswer.says("Fine."));
        List<Message> messages = Objects.requireNonNull(HardTranscripts.all().get(name));

        assertThatThrownBy(() -> provider().reply(request(messages))).hasMessageContaining("roles must alternate");
        assertThat(server().received().get(0).body().get("messages"))
                .extracting(message -> message.get("role").asText())
                .containsExactly("user", "assistant", "user", "user");
    }

    @Override
    String errorBody(String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"some_error\",\"message\":\"" + message + "\"}}";
    }
}
