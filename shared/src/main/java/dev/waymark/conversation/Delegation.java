package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a thread knows of the thread that carries out one of its calls.
 *
 * @param report the newest
 * @param decided of what was asked there, what people have decided here since, by id
 * @param past whatever was asked there before, by id
 * @param outbox decisions that are still to be passed on, in order
 * @param booked of what was used there, what this thread has counted as its own
 * @param over nothing more is heard of it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Delegation(
        @JsonProperty("report") Report report,
        @JsonProperty("decided") List<String> decided,
        @JsonProperty("past") List<String> past,
        @JsonProperty("outbox") List<Decision> outbox,
        @JsonProperty("booked") Usage booked,

        @JsonProperty("over") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean over) {
    static final Delegation BEGUN = new Delegation(Report.NONE, List.of(), List.of(), List.of(), Usage.NONE, false);

    @JsonCreator
    public Delegation {
        Objects.requireNonNull(report, "report");
        decided = decided == null ? List.of() : List.copyOf(decided);
        past = past == null ? List.of() : List.copyOf(past);
        outbox = outbox == null ? List.of() : List.copyOf(outbox);
        Objects.requireNonNull(booked, "booked");
    }

    /** What a person decided about something that a subagent's thread asked: a signal to that thread. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Decision(
            @JsonProperty("signal") String signal,
            @JsonProperty("body") Json body) {
        @JsonCreator
        public Decision {
            Objects.requireNonNull(signal, "signal");
            Objects.requireNonNull(body, "body");
        }
    }

    /** What waits for a person there, as far as nobody has decided it here. */
    @JsonIgnore
    List<Ask> asks() {
        return report.asks().stream()
                .filter(ask -> !decided.contains(ask.callId()))
                .toList();
    }

    Optional<Ask> ask(String callId) {
        return asks().stream().filter(ask -> ask.callId().equals(callId)).findFirst();
    }

    /** Nothing but a person can bring it on, as far as is known. */
    @JsonIgnore
    boolean waitsForPerson() {
        return report.waiting() && decided.isEmpty() && !report.asks().isEmpty();
    }

    boolean wasAsked(String callId) {
        return past.contains(callId) || decided.contains(callId);
    }

    /** A decision holds until the thread there has heard of it: what it goes on asking is not to be asked again. */
    Delegation reported(Report newer) {
        List<String> gone = new ArrayList<>(past);
        List<String> still = new ArrayList<>();
        for (Ask ask : report.asks()) {
            if (!newer.asks().contains(ask)) {
                gone.remove(ask.callId());
                gone.add(ask.callId());
            } else if (decided.contains(ask.callId())) {
                still.add(ask.callId());
            }
        }
        return new Delegation(newer, still, gone, outbox, booked, over);
    }

    Delegation deciding(String callId, Decision decision) {
        List<String> more = new ArrayList<>(decided);
        more.add(callId);
        List<Decision> longer = new ArrayList<>(outbox);
        longer.add(decision);
        return new Delegation(report, more, past, longer, booked, over);
    }

    Delegation passedOn() {
        return outbox.isEmpty()
                ? this
                : new Delegation(report, decided, past, outbox.subList(1, outbox.size()), booked, over);
    }

    Delegation booking(Usage usage) {
        return new Delegation(report, decided, past, outbox, usage, over);
    }

    /** Nothing that is asked there matters any more. */
    Delegation abandoned() {
        List<String> all = new ArrayList<>(past);
        report.asks().forEach(ask -> all.add(ask.callId()));
        return new Delegation(Report.NONE, List.of(), all, List.of(), booked, over);
    }

    Delegation finished() {
        return new Delegation(report, decided, past, outbox, booked, true);
    }
}
