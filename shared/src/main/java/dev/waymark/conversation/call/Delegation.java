package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a thread knows about the subagent's thread that executes one of its calls.
 *
 * @param report the newest progress report
 * @param decided the ids of the requests in the report that people have decided here
 * @param past the ids of the subagent's earlier requests
 * @param outbox decisions that must still be passed on, in order
 * @param reserved the subagent's budget, which is reserved while the subagent works
 * @param booked the part of the subagent's spending that this thread has already counted
 * @param over whether the subagent will send no more reports
 * @param untrusted whether its reply may have been written under the influence of untrusted words
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Delegation(
        SubagentProgress report,
        List<String> decided,
        List<String> past,
        List<Decision> outbox,
        Optional<Budget> reserved,
        Spent booked,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean over,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted) {
    static Delegation begun(Optional<Budget> reserved) {
        return new Delegation(
                SubagentProgress.NONE, List.of(), List.of(), List.of(), reserved, Spent.NOTHING, false, false);
    }

    public Delegation {
        Objects.requireNonNull(report, "report");
        decided = decided == null ? List.of() : List.copyOf(decided);
        past = past == null ? List.of() : List.copyOf(past);
        outbox = outbox == null ? List.of() : List.copyOf(outbox);
        Objects.requireNonNull(booked, "booked");
    }

    /** A person's decision about a request of a subagent's thread: a signal to that thread. */
    public record Decision(String signal, Json body) {
        public Decision {
            Objects.requireNonNull(signal, "signal");
            Objects.requireNonNull(body, "body");
        }
    }

    /** The subagent's requests that are not decided here. */
    @JsonIgnore
    public List<PendingItem> asks() {
        return report.asks().stream()
                .filter(ask -> !decided.contains(ask.callId()))
                .toList();
    }

    /**
     * Whether only a person can continue the subagent's thread: its newest report says so, and none of its requests is
     * decided.
     */
    @JsonIgnore
    boolean waitsForPerson() {
        return report.waiting() && decided.isEmpty() && !report.asks().isEmpty();
    }

    public boolean wasAsked(String callId) {
        return past.contains(callId) || decided.contains(callId);
    }

    /**
     * Replaces the report. A decided request stays decided until a report no longer contains it, so that people are not
     * shown it again.
     */
    public Delegation reported(SubagentProgress newer) {
        List<String> gone = new ArrayList<>(past);
        List<String> still = new ArrayList<>();
        for (PendingItem ask : report.asks()) {
            if (newer.asks().stream().noneMatch(ask::isSame)) {
                gone.remove(ask.callId());
                gone.add(ask.callId());
            } else if (decided.contains(ask.callId())) {
                still.add(ask.callId());
            }
        }
        return new Delegation(newer, still, gone, outbox, reserved, booked, over, untrusted);
    }

    public Delegation deciding(String callId, Decision decision) {
        List<String> more = new ArrayList<>(decided);
        more.add(callId);
        List<Decision> longer = new ArrayList<>(outbox);
        longer.add(decision);
        return new Delegation(report, more, past, longer, reserved, booked, over, untrusted);
    }

    /**
     * The part of the reserved budget that the subagent may still spend; {@link Budget#UNLIMITED} if nothing is
     * reserved.
     */
    public Budget outstanding() {
        return over ? Budget.UNLIMITED : reserved.orElse(Budget.UNLIMITED).minus(booked);
    }

    public Delegation passedOn() {
        return outbox.isEmpty()
                ? this
                : new Delegation(
                        report, decided, past, outbox.subList(1, outbox.size()), reserved, booked, over, untrusted);
    }

    public Delegation booking(Spent spent) {
        return new Delegation(report, decided, past, outbox, reserved, spent, over, untrusted);
    }

    /** A copy that drops undelivered decisions, and counts the subagent's open requests as past ones. */
    Delegation abandoned() {
        List<String> all = new ArrayList<>(past);
        report.asks().forEach(ask -> all.add(ask.callId()));
        return new Delegation(SubagentProgress.NONE, List.of(), all, List.of(), reserved, booked, over, untrusted);
    }

    /** A copy after the end of the thread. */
    public Delegation finished(boolean withUntrustedWords) {
        return new Delegation(report, decided, past, outbox, reserved, booked, true, withUntrustedWords);
    }
}
