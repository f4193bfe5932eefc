package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.decision.PendingItem;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * An announcement to one receiver about one subject: a request that waits, the end of a request, a call with an unknown
 * outcome, or the end of a turn.
 *
 * @param number counts the thread's announcements
 * @param from the time from which the plan counts
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
    /** How long workers try to announce the end of a request or a turn to a receiver that is down. */
    public static final Duration NEWS = Duration.ofDays(1);

    /** The longest time between two attempts to send an announcement that is due. */
    public static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

    /** Whether a worker has the announcement. The names are stored. */
    public enum Progress {
        @JsonProperty("due")
        DUE,
        /** A worker had it, and it is due again: a part of it may have been sent. */
        @JsonProperty("due-again")
        DUE_AGAIN,
        @JsonProperty("begun")
        BEGUN,
        /** A worker still has it, but the request has ended or the announcement was given up. */
        @JsonProperty("over")
        OVER
    }

    /**
     * The parts of a request that its announcements contain, while the request waits and after its end.
     *
     * @param until when it expires; empty if it has no time limit or keeps waiting
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

    /**
     * Whether both are for the same receiver and the same request, or for ends of turns, and so must keep their order.
     */
    public boolean isInLineWith(Announcement other) {
        return receiver.equals(other.receiver) && request.equals(other.request);
    }

    public Announcement in(Progress next) {
        return new Announcement(number, receiver, plan, from, request, turn, outcome, by, next);
    }
}
