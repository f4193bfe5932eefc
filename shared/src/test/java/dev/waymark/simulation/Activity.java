package dev.waymark.simulation;

import dev.waymark.conversation.call.Call;
import java.util.Optional;

/**
 * An activity under way, as a server holds it. A reset brings back those that were under way at its point: the same
 * inputs, decided by a run that is no more.
 *
 * @param run that decided it
 * @param call as it was handed out, for tools
 * @param sample what a check saw when it began, if it looked at once
 */
record Activity(String kind, int step, Optional<Call> call, int dispatch, String run, Optional<Boolean> sample) {
    static Activity of(String kind, int step, String run) {
        return new Activity(kind, step, Optional.empty(), 0, run, Optional.empty());
    }

    static Activity tool(Call call, int dispatch, String run) {
        return new Activity("tool", 0, Optional.of(call), dispatch, run, Optional.empty());
    }

    static Activity verify(Call call, String run, Optional<Boolean> sample) {
        return new Activity("verify", 0, Optional.of(call), call.dispatches(), run, sample);
    }

    /** Not quite an activity: the wait for a subagent's thread, which may be one that could not be begun. */
    static Activity subagent(Call call, boolean exists, String run) {
        return new Activity("subagent", exists ? 1 : 0, Optional.of(call), 0, run, Optional.empty());
    }

    String callId() {
        return call.map(Call::id).orElse("");
    }

    boolean isOf(String otherKind, String callId, int otherDispatch) {
        return kind.equals(otherKind) && callId().equals(callId) && dispatch == otherDispatch;
    }
}
