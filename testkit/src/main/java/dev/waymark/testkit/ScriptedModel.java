package dev.waymark.testkit;

import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import java.util.List;

/**
 * A model with scripted replies. If the transcript has i messages of the assistant, the model gives reply i, counted
 * from 0, or the last reply if there is no reply i. A reply therefore depends only on the conversation, and not on
 * the worker or on the number of attempts.
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

    /** Returns a model that gives these replies in order, and then repeats the last one. */
    public static ScriptedModel of(Reply... replies) {
        if (replies.length == 0) {
            throw new IllegalArgumentException("at least one reply is required");
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
