package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.call.PendingItem;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * What one receiver is to be told about one subject: a request that waits, its end, a call whose outcome is unknown, or
 * the end of a turn.
 *
 * @param number counts the thread's announcements
 * @param from the time to which the plan refers
 * @param request the request or the call, if it is about one
 * @param turn the number of the turn, if it is about the end of one
 * @param outcome how the request or the turn ended; empty if the request waits
 * @param by who decided, if that is known
 */
public record Announcement(
        int number,
        String receiver,
        AnnouncementPlan plan,
        Instant from,
        Optional<Request> request,
        Optional<Integer> turn,
        Optional<String> outcome,
        Optional<String> by,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) Progress progress) {
    /** How long the end of a request or a turn is announced to a receiver that is down. */
    public static final Duration NEWS = Duration.ofDays(1);

    /** The longest time between two attempts to tell a receiver something that is due. */
    public static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

    /** Whether a worker has the announcement. The names are stored. */
    public enum Progress {
        @JsonProperty("due")
        DUE,
        /** A worker had it, and it is due again: the receiver may have been told some of it. */
        @JsonProperty("due-again")
        DUE_AGAIN,
        @JsonProperty("begun")
        BEGUN,
        /** A worker has it, but it is no longer true. */
        @JsonProperty("over")
        OVER
    }

    /**
     * A request that waits for a person, or waited, as far as it is announced again and again.
     *
     * @param until when it expires, if it does not go on waiting then
     */
    public record Request(String callId, PendingItem.Kind kind, String tool, Instant since, Optional<Instant> until) {
        public Request {
            Objects.requireNonNull(callId, "callId");
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(tool, "tool");
            Objects.requireNonNull(since, "since");
        }

        public static Request of(PendingItem ask) {
            return new Request(ask.callId(), ask.kind(), ask.tool(), ask.since(), ask.until());
        }
    }

    public Announcement {
        Objects.requireNonNull(receiver, "receiver");
        Objects.requireNonNull(plan, "plan");
        Objects.requireNonNull(from, "from");
        progress = progress == null ? Progress.DUE : progress;
    }

    /** Whether no worker has the announcement. */
    @JsonIgnore
    public boolean isDue() {
        return progress == Progress.DUE || progress == Progress.DUE_AGAIN;
    }

    /** Whether both tell the same receiver of the same request, or of ends of turns, and so must keep their order. */
    public boolean isInLineWith(Announcement other) {
        return receiver.equals(other.receiver) && request.equals(other.request);
    }

    public Announcement in(Progress next) {
        return new Announcement(number, receiver, plan, from, request, turn, outcome, by, next);
    }
}
