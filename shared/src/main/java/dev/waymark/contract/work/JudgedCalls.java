package dev.waymark.contract.work;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Spent;
import dev.waymark.tool.JudgedCall;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The calls of replies, as judges see them. */
public final class JudgedCalls {
    private JudgedCalls() {}

    /**
     * The calls of a reply to a model call of this state, in order, up to the maximum number of calls per reply.
     *
     * @param at when they are judged
     */
    public static List<JudgedCall> of(Reply reply, Conversation state, Optional<String> owner, Instant at) {
        Spent spent = state.spent().plus(reply.spent());
        List<Part.ToolUse> calls = reply.calls();
        List<Integer> requested = state.requests(calls);
        return IntStream.range(0, Math.min(calls.size(), Conversation.MAX_CALLS))
                .mapToObj(i -> new JudgedCall(
                        calls.get(i).name(),
                        calls.get(i).input(),
                        owner,
                        spent,
                        requested.get(i),
                        at,
                        state.untrusted()))
                .toList();
    }
}
