package dev.waymark.testkit;

import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import java.util.List;

/**
 * A model that says what it was told to: the reply to a transcript with i messages of the assistant is number i, and the
 * last one repeats. So it goes on as a real one would, whichever worker asks it, and however often.
 *
 * <pre>{@code
 * ScriptedModel model = ScriptedModel.of(
 *         Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of("item", "book")))),
 *         Reply.of(new Part.Text("Done.")));
 * }</pre>
 */
public final class ScriptedModel implements ModelProvider {
    private final List<Reply> replies;

    private ScriptedModel(List<Reply> replies) {
        this.replies = replies;
    }

    public static ScriptedModel of(Reply... replies) {
        if (replies.length == 0) {
            throw new IllegalArgumentException("a model has something to say");
        }
        return new ScriptedModel(List.of(replies));
    }

    @Override
    public Reply reply(ModelRequest request) {
        long said = request.messages().stream()
                .filter(message -> message.role() == Role.ASSISTANT)
                .count();
        return replies.get((int) Math.min(said, replies.size() - 1));
    }
}
