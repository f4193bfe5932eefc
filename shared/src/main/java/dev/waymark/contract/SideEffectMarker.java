package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/**
 * The content of a side effect marker: whether the packed state fits into a new run, and facts without an event of
 * their own. {@code inChunks}: the state fits only in chunks. {@code limitReached}: the state does not fit, and the run
 * cannot grow either. {@code cutOff}: the run cannot wait for its subagents. {@code notStarted}: a subagent cannot be
 * started.
 */
public record SideEffectMarker(
        boolean fits,
        Optional<Problem> limitReached,
        Optional<Problem> cutOff,
        Optional<NotStarted> notStarted,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean inChunks) {

    /** Why no thread is started for a call. */
    public record NotStarted(String callId, String reason) {
        @JsonCreator
        public NotStarted {}
    }

    public static SideEffectMarker fits(boolean inChunks) {
        return new SideEffectMarker(true, Optional.empty(), Optional.empty(), Optional.empty(), inChunks);
    }

    public static SideEffectMarker doesNotFit(Optional<Problem> limitReached) {
        return new SideEffectMarker(false, limitReached, Optional.empty(), Optional.empty(), false);
    }

    public static SideEffectMarker cuttingOff(Problem why) {
        return new SideEffectMarker(false, Optional.empty(), Optional.of(why), Optional.empty(), false);
    }

    public static SideEffectMarker notStarting(String callId, String reason) {
        return new SideEffectMarker(
                false, Optional.empty(), Optional.empty(), Optional.of(new NotStarted(callId, reason)), false);
    }

    public Optional<Fact> fact() {
        if (cutOff.isPresent()) {
            return cutOff.map(SubagentFact.SubagentsCutOff::new);
        }
        if (notStarted.isPresent()) {
            return notStarted.map(which -> new SubagentFact.SubagentNotStarted(which.callId(), false, which.reason()));
        }
        return limitReached.map(ThreadFact.LimitReached::new);
    }
}
