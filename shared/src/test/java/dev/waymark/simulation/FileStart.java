package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.rule.Rules;
import java.time.Instant;
import java.util.Optional;

/**
 * The checkpoint that a simulated thread begins with.
 *
 * @param restored its conversation; empty for a thread that begins with nothing
 * @param allowed what may happen to its open calls without a decision
 */
record FileStart(Optional<Conversation> restored, FileCalls allowed, boolean once) {
    static final FileStart NONE = new FileStart(Optional.empty(), FileCalls.CONTINUE, false);

    /** The first state of the thread. */
    Optional<Conversation> resumed(Instant at) {
        return restored.map(state -> Rules.resume(
                state,
                new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), once, Optional.empty())
                        .withFileCalls(allowed),
                at));
    }

    /** Whether the call with this id comes from the checkpoint, which has its result or does not. */
    boolean has(String callId) {
        return restored.filter(state -> state.calls().contains(callId)).isPresent();
    }
}
