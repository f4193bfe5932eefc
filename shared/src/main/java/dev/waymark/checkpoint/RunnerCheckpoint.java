package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The {@code runner} format: messages, iterations, usage, and the call that waits for an answer.
 *
 * <p>The content of a prompt is a string; the content of an assistant message is a list of parts. Tool results form one
 * user message. Results of an incomplete batch are stored next to the open call as a partial batch;
 * {@code pendingToolUseId} names the first open call in call order and is absent unless the run waits for a person.
 */
public final class RunnerCheckpoint {
    private RunnerCheckpoint() {}

    public static Json of(Conversation state) {
        return of(state, state.turn(), CheckpointMessages.iterations(state));
    }

    /**
     * The checkpoint for this turn. It may be an earlier turn than the state's, since the next turn can start at the
     * moment when this one ends.
     */
    public static Json of(Conversation state, Turn turn) {
        return of(state, turn, turn.iterations());
    }

    private static Json of(Conversation state, Turn turn, int iterations) {
        Map<String, Object> checkpoint = new LinkedHashMap<>();
        checkpoint.put("messages", messages(state));
        checkpoint.put("iterations", iterations);
        Map<String, Object> usage = new LinkedHashMap<>();
        usage.put("inputTokens", turn.usage().inputTokens());
        usage.put("outputTokens", turn.usage().outputTokens());
        checkpoint.put("usage", usage);
        CheckpointMessages.interruption(state).ifPresent(call -> checkpoint.put("pendingToolUseId", call.id()));
        return Json.of(checkpoint);
    }

    /** The transcript, including results not yet committed to it. */
    public static List<Object> messages(Conversation state) {
        List<Object> rows = new ArrayList<>();
        CheckpointMessages.messages(state).forEach(message -> rows.add(row(message)));
        return rows;
    }

    private static Map<String, Object> row(Message message) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("role", message.role().wireName());
        boolean prompt = message.role() == Role.USER
                && message.content().size() == 1
                && message.content().get(0) instanceof Part.Text;
        row.put(
                "content",
                prompt
                        ? message.text()
                        : message.content().stream().map(RunnerCheckpoint::part).toList());
        return row;
    }

    private static Map<String, Object> part(Part part) {
        Map<String, Object> tree = part.tree();
        if (part instanceof Part.ToolUse use) {
            tree.put("input", FileArguments.written(use.input()));
        }
        return tree;
    }
}
