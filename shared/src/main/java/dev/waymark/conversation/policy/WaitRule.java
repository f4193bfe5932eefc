package dev.waymark.conversation.policy;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * What happens while a request waits for a person.
 *
 * @param remind the time until the first reminder; the times between reminders double, up to a day
 * @param escalation when another receiver is told
 * @param keepWaiting whether a request keeps waiting after it has expired; otherwise it ends without a decision of a
 *     person
 */
public record WaitRule(
        Optional<Duration> remind,
        Optional<Escalation> escalation,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean keepWaiting) {
    public WaitRule {
        remind.ifPresent(WaitRule::check);
    }

    private static void check(Duration time) {
        if (time.isZero() || time.isNegative()) {
            throw new IllegalArgumentException("the time of a wait must be longer than 0, found " + time);
        }
    }

    /** Requests wait without reminders, until they expire. */
    public static final WaitRule DEFAULT = new WaitRule(Optional.empty(), Optional.empty(), false);

    /** A request that has waited this long is announced to this receiver. */
    public record Escalation(Duration after, String to) {
        public Escalation {
            check(after);
            Objects.requireNonNull(to, "to");
        }
    }

    /** Sets the time until the first reminder. */
    public WaitRule reminding(Duration first) {
        return new WaitRule(Optional.of(first), escalation, keepWaiting);
    }

    /** Tells this receiver of requests that have waited this long. */
    public WaitRule escalating(Duration after, String to) {
        return new WaitRule(remind, Optional.of(new Escalation(after, to)), keepWaiting);
    }

    /** Lets requests keep waiting after they have expired. */
    public WaitRule keepingOn() {
        return new WaitRule(remind, escalation, true);
    }
}
