package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A conversation that switches between providers and back. Each server rejects reasoning that it did not issue. */
class ProviderSwitchTest {
    private final List<Message> said = new ArrayList<>();

    @Test
    void conversationThatChangesItsProvider_continues() throws Exception {
        try (ModelServer anthropic = new AnthropicServer();
                ModelServer openai = new OpenAiServer()) {
            ModelProvider first = AnthropicProvider.of(anthropic.environment());
            ModelProvider second = OpenAiProvider.of(openai.environment());
            ModelAnswer thoughtful = ModelAnswer.says()
                    .plus(new Piece.Thought("Hm, rain?", "c2lnbmVk"))
                    .plus(new Piece.Words("Let me see."))
                    .calls("tu_1", "weather", "{\"city\": ")
                    .calls("tu_2", "weather", "{\"city\": null}");
            anthropic.answers(thoughtful);
            openai.answers(thoughtful);

            said.add(Message.user("Weather?"));
            for (ModelProvider asked : List.of(first, second, first, second)) {
                take(asked.reply(request()));
            }

            assertThat(anthropic.complaints()).isEmpty();
            assertThat(openai.complaints()).isEmpty();
            assertThat(thoughtsIn(anthropic.received().get(1))).isEqualTo(1);
            assertThat(thoughtsIn(openai.received().get(1))).isEqualTo(1);
            assertThat(anthropic.received().get(1).body().toString()).contains("\"city\":null");
        }
    }

    private ModelRequest request() {
        return new ModelRequest(
                "m-1", Optional.empty(), said, List.of(ToolSpec.java("weather").build()), 100);
    }

    /**
     * Adds a reply as the conversation's rules do: call ids get a suffix that makes them unique, and each call gets a
     * result.
     */
    private void take(Reply reply) {
        int turn = said.size();
        List<Part> content = reply.content().stream()
                .map(part -> part instanceof Part.ToolUse use ? use.withId(use.id() + "~" + turn) : part)
                .toList();
        Message message = new Message(Role.ASSISTANT, content);
        said.add(message);
        said.add(Message.results(message.toolUses().stream()
                .map(use -> new Part.ToolResult(use.id(), "Invalid input", true))
                .toList()));
    }

    private static int thoughtsIn(ModelServer.Received request) {
        return request.body().toString().split("Hm, rain\\?", -1).length - 1;
    }
}
