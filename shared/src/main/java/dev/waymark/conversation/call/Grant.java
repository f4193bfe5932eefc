package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.VerifiedSubject;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * An approval that also lets later calls run without a request. It never lets a call run that the agent's rules deny.
 *
 * @param number counts the grants of a thread from 1
 * @param callId the call that was approved with it
 * @param argsDigest the digest of the arguments that were approved
 * @param at when it was given
 * @param used the number of calls that it let run. A call counts even if it then does not run.
 * @param by the name that the decision states
 * @param verified the person who decided, if a server verified them
 * @param definition the digest of the tool's definition at that time, if the tool has one
 * @param ended set if it ended before its time
 */
public record Grant(
        int number,
        String tool,
        String callId,
        String argsDigest,
        GrantTerms terms,
        Instant at,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int used,

        Optional<String> by,
        Optional<VerifiedSubject> verified,
        Optional<String> definition,
        Optional<End> ended) {
    /** Why a grant ended before its time. The names are stored. */
    public enum Reason {
        @JsonProperty("revoked")
        REVOKED,
        /** The tool's definition has changed since the approval. */
        @JsonProperty("tool-changed")
        TOOL_CHANGED
    }

    /** @param by who revoked it */
    public record End(Reason reason, Instant at, Optional<String> by) {
        public End {
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(at, "at");
        }
    }

    public Grant {
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(argsDigest, "argsDigest");
        Objects.requireNonNull(terms, "terms");
        Objects.requireNonNull(at, "at");
    }

    public Grant usedOnce() {
        return with(used + 1, ended);
    }

    public Grant ending(Reason reason, Instant when, Optional<String> who) {
        return with(used, Optional.of(new End(reason, when, who)));
    }

    private Grant with(int uses, Optional<End> end) {
        return new Grant(number, tool, callId, argsDigest, terms, at, uses, by, verified, definition, end);
    }

    /** Whether a call that it let run may still start. */
    public boolean isInForce(Instant now) {
        return ended.isEmpty() && until().filter(time -> !now.isBefore(time)).isEmpty();
    }

    /** Whether it lets another call run. */
    public boolean isOpen(Instant now) {
        return isInForce(now) && !isUsedUp();
    }

    /** When it ends by itself, if it has a time limit. */
    @JsonIgnore
    public Optional<Instant> until() {
        return terms.until(at);
    }

    private boolean isUsedUp() {
        return terms.times().filter(most -> used >= most).isPresent();
    }

    /** Whether the grant is for the arguments of this call. The call's verdict records which schemas they match. */
    public boolean covers(Call call) {
        return tool.equals(call.tool())
                && (terms.like().isEmpty()
                        ? terms.anyArgs() || argsDigest.equals(call.argsDigest())
                        : compared(call)
                                .filter(each -> each.matching().contains(number))
                                .isPresent());
    }

    /** Whether the call's arguments have not been compared with the schema of this grant yet. */
    public boolean isToBeComparedWith(Call call) {
        return tool.equals(call.tool())
                && terms.like().isPresent()
                && compared(call).map(CallVerdict.Compared::upTo).orElse(0) < number;
    }

    private static Optional<CallVerdict.Compared> compared(Call call) {
        return call.verdict().flatMap(CallVerdict::compared);
    }
}
