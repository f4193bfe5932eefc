package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import java.util.Map;
import java.util.Optional;

/** Rules of calls that a subagent's thread executes, and of the link to the parent thread. */
final class SubagentRules {
    /**
     * The field of a decision that contains the id of the subagent call. The subagent's thread ignores it; readers of
     * history need it.
     */
    private static final String VIA = "via";

    private SubagentRules() {}

    static void subagentStarted(Draft draft, SubagentFact.SubagentStarted fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> draft.book.put(call.delegated(fact.budget(), draft.at)));
    }

    static void subagentNotStarted(Draft draft, SubagentFact.SubagentNotStarted fact) {
        draft.book.calls.get(fact.callId()).ifPresent(call -> {
            Call heard = finished(call, false);
            draft.book.put(heard);
            if (!call.isOpen()) {
                return;
            }
            if (fact.exists()) {
                LostCallRules.giveUp(draft, heard); // A reset undid an earlier call, but not its effects.
            } else {
                draft.fail(heard, ToolTexts.failure("could not be started: " + fact.reason()));
            }
            draft.reachVersionWhenBatchIsDone();
        });
    }

    static void subagentFinished(Draft draft, SubagentFact.SubagentFinished fact) {
        draft.book.calls.get(fact.callId()).ifPresent(call -> {
            fact.spent().ifPresent(spent -> book(draft, call, spent));
            Call heard = finished(draft.book.call(call.id()), fact.untrusted());
            draft.book.put(heard);
            if (call.status() != Call.Status.DELEGATED) {
                return;
            }
            if (fact.status().equals(Turn.Status.COMPLETE.wireName())) {
                draft.end(heard, Call.Status.COMPLETED, fact.text());
            } else if (fact.problem()
                    .filter(problem -> problem.type().equals(ProblemType.RAN_BEFORE))
                    .isPresent()) {
                LostCallRules.giveUp(
                        draft, heard); // A reset undid an earlier call, but not its effects; its thread was deleted.
            } else {
                draft.end(
                        heard,
                        Call.Status.FAILED,
                        ToolTexts.subagent(call.tool(), fact.status(), fact.problem(), fact.text()));
            }
        });
    }

    private static Call finished(Call call, boolean untrusted) {
        return call.subagent()
                .map(known -> call.delegating(known.finished(untrusted)))
                .orElse(call);
    }

    static void subagentReported(Draft draft, SubagentFact.SubagentReported fact) {
        book(draft, draft.book.call(fact.callId()), fact.report().spent());
        Call call = draft.book.call(fact.callId());
        if (call.status() == Call.Status.DELEGATED) {
            draft.book.put(call.delegating(call.subagent().orElseThrow().reported(fact.report())));
        }
    }

    /** Counts a subagent's spending as this thread's own, as soon as it is known, and only once. */
    private static void book(Draft draft, Call call, Spent total) {
        call.subagent().ifPresent(known -> {
            Spent more = total.minus(known.booked());
            draft.money.spend(more);
            draft.dialogue.turn = draft.dialogue.turn.usedMore(call.turn(), more.usage());
            draft.dialogue.ended = draft.dialogue.ended.map(last -> last.usedMore(call.turn(), more.usage()));
            draft.book.put(call.delegating(known.booking(known.booked().plus(more))));
        });
    }

    /** Stores a decision for the subagent's thread that requested it. Returns false if this thread requested it. */
    static boolean passOn(Draft draft, PendingItem ask, PersonFact decision) {
        Optional<Call> above = draft.book.calls.contains(ask.callId())
                ? Optional.empty()
                : draft.book.done().above(ask.callId());
        above.ifPresent(call -> {
            String below = ask.callId().substring(call.id().length() + 1);
            Map<String, Object> body = decision.payload();
            body.remove("id"); // This thread has already recorded the id.
            body.put("callId", below);
            body.put(VIA, call.id());
            draft.book.put(call.delegating(call.subagent()
                    .orElseThrow()
                    .deciding(below, new Delegation.Decision(decision.signal(), Json.of(body)))));
        });
        return above.isPresent();
    }

    static void decisionPassedOn(Draft draft, SubagentFact.DecisionPassedOn fact) {
        draft.book
                .calls
                .get(fact.callId())
                .ifPresent(
                        call -> call.subagent().ifPresent(known -> draft.book.put(call.delegating(known.passedOn()))));
    }

    static void parentTold(Draft draft, SubagentFact.ParentTold fact) {
        draft.parentLink.reported = Optional.of(fact.report());
    }

    static void subagentsCutOff(Draft draft, SubagentFact.SubagentsCutOff fact) {
        draft.book.openCalls().stream()
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .forEach(call -> draft.fail(
                        call, ToolTexts.subagent(call.tool(), "cancelled", Optional.of(fact.problem()), "")));
        draft.reachVersionWhenBatchIsDone();
    }
}
