package dev.waymark.conversation;

import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Applies one fact: makes a draft of the state, lets the rule for the fact change the draft, and applies all immediate
 * consequences.
 *
 * <p>Consequences that need nothing from outside happen here, not in steps: turns end and open, and versions are
 * counted. A reader of history therefore needs only the facts.
 */
final class Evolution {
    private Evolution() {}

    /** The state after a thread's first fact. */
    static Conversation start(ThreadFact.RunStarted fact, Instant at) {
        Draft blank = Draft.blank(fact.rules(), fact.agent(), at);
        blank.identity.once = fact.once();
        blank.money.maxIterations = fact.maxIterations();
        blank.parentLink.parent = fact.parent();
        blank.binding.context = fact.context();
        blank.identity.origin = fact.session().map(Origin::ofSession);
        return apply(blank.state(), fact, at);
    }

    static Conversation apply(Conversation before, Fact fact, Instant at) {
        Draft draft = new Draft(before, at);
        draft.counters.facts++;
        Optional<Problem> refusal =
                fact instanceof Fact.Inbound inbound ? Admission.refusal(before, inbound, at) : Optional.empty();
        if (refusal.isPresent()) {
            draft.ignore(((Fact.Inbound) fact).signal(), refusal.get().message());
        } else {
            if (fact instanceof Fact.Inbound inbound) {
                inbound.messageId()
                        .ifPresent(id -> draft.arrivals.seen = draft.arrivals.seen.with(id, draft.counters.facts));
            }
            FactRules.apply(draft, fact);
            settle(draft);
            AnnouncementRules.settle(draft, before);
        }
        countVersion(draft, before);
        return draft.state();
    }

    /** The initial state of a thread that continues a closed one. */
    static Conversation resume(Conversation over, Resumption how, Instant at) {
        Draft draft = new Draft(over, at);
        TakeoverRules.resume(draft, how);
        settle(draft);
        AnnouncementRules.takeOver(draft);
        countVersion(draft, over);
        // Resuming alone changes nothing visible, so the time of the last change is kept.
        return how.answer().isPresent() ? draft.state() : draft.state(over.updatedAt());
    }

    /** The initial state of a thread that is forked from another one. Both may continue. */
    static Conversation fork(Conversation ancestor, ForkRequest how, Instant at) {
        Draft draft = new Draft(ancestor, at);
        TakeoverRules.fork(draft, how);
        settle(draft);
        AnnouncementRules.takeOver(draft);
        draft.counters.versions++;
        return draft.state();
    }

    /** A restored conversation for a reader who does not know its agent. */
    static Conversation readWithoutAgent(Conversation restored, Set<String> harmlessTools) {
        Draft draft = new Draft(restored, restored.updatedAt());
        TakeoverRules.tellWithoutAgent(draft, harmlessTools);
        return draft.state(restored.updatedAt());
    }

    /**
     * Applies immediate consequences: a held call is released when the identical call before it has ended, a queued
     * message opens the next turn when a turn completes, and a turn at its limit ends.
     */
    private static void settle(Draft draft) {
        CallRules.releaseHeldCalls(draft);
        TurnRules.settle(draft);
    }

    private static void countVersion(Draft draft, Conversation before) {
        if (draft.versionReached || (draft.isInterrupted() && !before.isInterrupted())) {
            draft.counters.versions++;
        }
    }
}
