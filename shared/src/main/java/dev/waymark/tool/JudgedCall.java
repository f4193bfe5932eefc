package dev.waymark.tool;

import dev.waymark.annotation.Internal;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A call for rules or a judge to decide about, with the data that they may use.
 *
 * @param args the arguments, which match the tool's schema
 * @param owner the subject that owns the thread, if it has one
 * @param spent what the thread has spent, including the reply with the call
 * @param requested how often the tool was requested in the thread, up to and including this call. Calls of the same
 *     reply count in their order.
 * @param at the current time
 */
public record JudgedCall(String tool, Json args, Optional<String> owner, Spent spent, int requested, Instant at) {
    public JudgedCall {
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(spent, "spent");
        Objects.requireNonNull(at, "at");
    }

    /**
     * The calls of a reply to a model call of this state, in order, up to the maximum number of calls per reply.
     *
     * @param at when they are judged
     */
    @Internal
    public static List<JudgedCall> of(Reply reply, Conversation state, Optional<String> owner, Instant at) {
        Spent spent = state.spent().plus(reply.spent());
        List<Part.ToolUse> calls = reply.calls();
        List<Integer> requested = state.requests(calls);
        return IntStream.range(0, Math.min(calls.size(), Conversation.MAX_CALLS))
                .mapToObj(i ->
                        new JudgedCall(calls.get(i).name(), calls.get(i).input(), owner, spent, requested.get(i), at))
                .toList();
    }
}
