package dev.waymark.simulation;

import dev.waymark.conversation.call.Call;
import java.util.Optional;

/**
 * A pending activity, as a server stores it. A reset restores the activities that were pending at the point of the
 * reset, with the same inputs, although the run that scheduled them no longer exists.
 *
 * @param run the run that scheduled it
 * @param call the call as it was dispatched, for tools
 * @param sample what a check found if it looked for the effect when it started; empty if it looks when it ends
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

    static Activity task(Call call, String run) {
        return new Activity("task", 0, Optional.of(call), call.dispatches(), run, Optional.empty());
    }

    static Activity cancel(Call call, String run) {
        return new Activity("cancel", 0, Optional.of(call), 0, run, Optional.empty());
    }

    static Activity judge(Call call, String run) {
        return new Activity("judge", 0, Optional.of(call), 0, run, Optional.empty());
    }

    static Activity announcement(int number, String run) {
        return of("announcement", number, run);
    }

    /** The wait for a subagent's thread, simulated as an activity. If its id {@code exists}, the thread can't start. */
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
