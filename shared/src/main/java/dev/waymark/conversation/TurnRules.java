package dev.waymark.conversation;

import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rules of turns: when one opens, goes on and ends, and what ends with it. */
final class TurnRules {
    private final Draft draft;

    TurnRules(Draft draft) {
        this.draft = draft;
    }

    void open() {
        draft.turn = draft.turn.next(draft.at);
    }

    void end(Turn.Status how, String words, @Nullable Problem why) {
        if (draft.state().isSummarising()) {
            draft.gauge = Optional.of(draft.gauge().notSummarising());
        }
        draft.modelCalled = false;
        draft.turn = draft.turn.ended(how, words, Optional.ofNullable(why));
        draft.ended = Optional.of(draft.turn);
        draft.versionReached = true;
    }

    /** Ends the turn before its time, and its open calls with it. */
    void stop(Turn.Status how, String text) {
        if (draft.turn.isRunning()) {
            draft.cancelOpenCalls(text);
            end(how, "", new Problem(how == Turn.Status.STOPPED ? "Stopped" : "Cancelled", text));
        }
    }

    /** Opens the next turn for messages that are queued, and ends one that has reached a limit. */
    void settle() {
        if (draft.turn.status() == Turn.Status.COMPLETE && !draft.queue.isEmpty()) {
            open();
        }
        boolean modelIsDue = draft.turn.isRunning()
                && draft.terms.isPresent()
                && !draft.modelCalled
                && draft.openCalls().isEmpty();
        if (modelIsDue) {
            endOnLimit(draft.state());
        }
    }

    private void endOnLimit(Conversation now) {
        int limit = now.iterationLimit().orElseThrow();
        if (draft.turn.iterations() >= limit) {
            String words = "the limit of " + limit + " iterations is reached";
            end(Turn.Status.MAX_ITERATIONS, "", new Problem("MaxIterations", words));
        } else {
            now.limits().overdrawn(now.spent()).ifPresent(why -> end(Turn.Status.BUDGET, "", why));
        }
    }

    void budgetRaised(Fact.BudgetRaised fact) {
        draft.maxIterations = fact.iterations().or(() -> draft.maxIterations);
        Budget before = draft.state().limits();
        Budget after = before.raisedTo(fact.budget());
        if (!after.equals(before)) {
            draft.budget = Optional.of(after);
        }
        boolean wasTheLimit = switch (draft.turn.status()) {
            case MAX_ITERATIONS -> fact.iterations().isPresent();
            case BUDGET -> !after.equals(before);
            case NONE, RUNNING, COMPLETE, FAILED, STOPPED, CANCELLED -> false;
        };
        if (wasTheLimit && draft.life == Conversation.Life.OPEN && !draft.isBlank()) {
            draft.turn = draft.turn.continued();
        }
    }

    void stopped(Fact.Stopped fact) {
        stop(Turn.Status.STOPPED, "Cancelled by " + fact.by().orElse("user") + ".");
    }

    void cleared(Fact.Cleared fact) {
        forget("Cancelled by " + fact.by().orElse("user") + ".");
        if (fact.all()) {
            draft.effects = draft.effects.withoutResults();
        }
    }

    void closeRequested() {
        draft.life = Conversation.Life.CLOSING;
    }

    void cancelRequested() {
        stop(Turn.Status.CANCELLED, "Cancelled with its thread.");
        draft.life = Conversation.Life.CANCELLED;
    }

    void limitReached(Fact.LimitReached fact) {
        draft.full = true;
        if (draft.turn.isRunning()) {
            draft.cancelOpenCalls("Cancelled: " + fact.problem().message());
            end(Turn.Status.FAILED, "", fact.problem());
        }
    }

    /** Forgets what was said. What is known of side effects stays. */
    void forget(String text) {
        stop(Turn.Status.STOPPED, text);
        draft.batch = List.of();
        draft.queue = List.of();
        draft.transcript = Transcript.EMPTY;
        draft.gauge = draft.gauge.map(TokenEstimate::unread);
        draft.workspace = Workspace.EMPTY;
        // What was said lives on in the calls' arguments, and a full thread would stay full.
        PersistentMap<Call> kept = draft.calls;
        kept.forEach((id, call) -> draft.put(call.forgotten(draft.careOf(call).effect())));
        draft.full = false;
        draft.versionReached = true;
    }
}
