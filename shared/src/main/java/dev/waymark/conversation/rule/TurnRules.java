package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Money;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.TokenEstimate;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rules of turns: when one opens, continues and ends, and what ends with it. */
final class TurnRules {
    private TurnRules() {}

    static void open(Draft draft) {
        draft.dialogue.turn = draft.dialogue.turn.next(draft.at);
    }

    static void end(Draft draft, Turn.Status how, String words, @Nullable Problem why) {
        if (draft.isSummarizing()) {
            draft.dialogue.tokenEstimate = Optional.of(draft.dialogue.estimate().notSummarizing());
        }
        draft.dialogue.modelCalled = false;
        draft.dialogue.turn = draft.dialogue.turn.ended(
                how, words.isEmpty() ? draft.dialogue.turn.text() : words, Optional.ofNullable(why));
        draft.dialogue.ended = Optional.of(draft.dialogue.turn);
        draft.versionReached = true;
    }

    /** Ends the turn early and cancels its open calls. */
    static void stop(Draft draft, Turn.Status how, String text) {
        stop(
                draft,
                how,
                text,
                new Problem(how == Turn.Status.STOPPED ? ProblemType.STOPPED : ProblemType.CANCELLED, text));
    }

    /** @param text the result that each open call gets */
    static void stop(Draft draft, Turn.Status how, String text, Problem why) {
        if (draft.dialogue.turn.isRunning()) {
            draft.cancelOpenCalls(text);
            end(draft, how, "", why);
        }
    }

    /** Opens the next turn for queued messages, and ends a turn that has reached a limit. */
    static void settle(Draft draft) {
        boolean hasReply = switch (draft.dialogue.turn.status()) {
            case COMPLETE, CUT -> true;
            case NONE, RUNNING, FAILED, MAX_ITERATIONS, BUDGET, STOPPED, CANCELLED -> false;
        };
        if (hasReply && !draft.dialogue.queue.isEmpty()) {
            open(draft);
        }
        boolean modelIsDue = draft.dialogue.turn.isRunning()
                && draft.binding.policy.isPresent()
                && !draft.dialogue.modelCalled
                && draft.book.openCalls().isEmpty();
        if (modelIsDue) {
            endOnLimit(draft, draft.money.done());
        }
    }

    private static void endOnLimit(Draft draft, Money money) {
        int limit = money.iterationLimit(draft.binding.policy).orElseThrow();
        if (draft.dialogue.turn.iterations() >= limit) {
            String words = "the limit of " + limit + " iterations is reached";
            end(draft, Turn.Status.MAX_ITERATIONS, "", new Problem(ProblemType.MAX_ITERATIONS, words));
        } else {
            limits(draft, money).overdrawn(money.spent()).ifPresent(why -> end(draft, Turn.Status.BUDGET, "", why));
        }
    }

    private static Budget limits(Draft draft, Money money) {
        return money.limits(draft.binding.policy, draft.parentLink.parent);
    }

    static void budgetRaised(Draft draft, PersonFact.BudgetRaised fact) {
        draft.money.maxIterations = fact.iterations().or(() -> draft.money.maxIterations);
        Budget before = limits(draft, draft.money.done());
        Budget after = before.raisedTo(fact.budget());
        if (!after.equals(before)) {
            draft.money.budget = Optional.of(after);
        }
        boolean wasTheLimit = switch (draft.dialogue.turn.status()) {
            case MAX_ITERATIONS -> fact.iterations().isPresent();
            case BUDGET -> !after.equals(before);
            case NONE, RUNNING, COMPLETE, CUT, FAILED, STOPPED, CANCELLED -> false;
        };
        if (wasTheLimit && draft.identity.life == ThreadIdentity.Life.OPEN && !draft.dialogue.isBlank()) {
            draft.dialogue.turn = draft.dialogue.turn.continued();
        }
    }

    static void stopped(Draft draft, PersonFact.Stopped fact) {
        stop(draft, Turn.Status.STOPPED, "Cancelled by " + fact.by().orElse("user") + ".");
    }

    static void cleared(Draft draft, PersonFact.Cleared fact) {
        forget(draft, "Cancelled by " + fact.by().orElse("user") + ".");
        UntrustedRules.forgotten(draft);
        if (fact.all()) {
            draft.book.effects = draft.book.effects.withoutResults();
        }
    }

    static void closeRequested(Draft draft) {
        draft.identity.life = ThreadIdentity.Life.CLOSING;
    }

    static void cancelRequested(Draft draft) {
        stop(draft, Turn.Status.CANCELLED, "Cancelled with its thread.");
        draft.identity.life = ThreadIdentity.Life.CANCELLED;
    }

    static void limitReached(Draft draft, ThreadFact.LimitReached fact) {
        draft.identity.full = true;
        if (draft.dialogue.turn.isRunning()) {
            draft.cancelOpenCalls("Cancelled: " + fact.problem().message());
            end(draft, Turn.Status.FAILED, "", fact.problem());
        }
    }

    /** Deletes the conversation and keeps the record of side effects. */
    static void forget(Draft draft, String text) {
        stop(draft, Turn.Status.STOPPED, text);
        draft.book.batch = List.of();
        draft.dialogue.queue = List.of();
        draft.replaceTranscript(Transcript.EMPTY);
        draft.dialogue.tokenEstimate = draft.dialogue.tokenEstimate.map(TokenEstimate::unread);
        draft.book.workspace = Workspace.EMPTY;
        draft.book.longResults = List.of();
        draft.book.grants = draft.book.grants.ended();
        // Arguments of calls are part of the conversation. If they were kept, a full thread would stay full.
        PersistentMap<Call> kept = draft.book.calls;
        kept.forEach(
                (id, call) -> draft.book.put(call.forgotten(draft.policyOf(call).effect())));
        draft.identity.full = false;
        draft.versionReached = true;
    }
}
