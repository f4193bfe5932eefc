package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The rules of a conversation, as functions of its state. Other packages use the rules only through this class.
 *
 * <p>To apply a fact, a draft of the state is made, the rule for the fact changes the draft, and all immediate
 * consequences are applied. Consequences that need nothing from outside happen here, not in steps: turns end and open,
 * and versions are counted. A reader of history therefore needs only the facts.
 */
public final class Rules {
    private Rules() {}

    /** The state after a thread's first fact. */
    public static Conversation start(ThreadFact.RunStarted fact, Instant at) {
        Draft blank = Draft.blank(fact.rules(), fact.agent(), at);
        blank.identity.once = fact.once();
        blank.money.maxIterations = fact.maxIterations();
        blank.parentLink.parent = fact.parent();
        blank.dialogue.untrusted = fact.parent().flatMap(Parent::untrusted);
        blank.binding.context = fact.context();
        blank.identity.origin = fact.session().map(Origin::ofSession);
        return changed(blank.state(), fact, at);
    }

    /**
     * The state after another fact. A fact that no longer matters, such as a late reply of the model, changes only
     * counters, times and spending. A timer that fires when nothing is due does not change the state at all.
     */
    public static Conversation apply(Conversation before, Fact fact, Instant at) {
        boolean isIdle = fact instanceof ThreadFact.TimePassed && !isDue(before, at);
        return isIdle ? before : changed(before, fact, at);
    }

    /** Whether the waiting time of an open call is over, or the time that a closing thread waits for announcements. */
    private static boolean isDue(Conversation state, Instant now) {
        return Stream.concat(
                        state.openCalls().stream().flatMap(call -> call.wakeAt().stream()),
                        state.announcements().flatMap(Announcements::until).stream())
                .anyMatch(time -> !time.isAfter(now));
    }

    private static Conversation changed(Conversation before, Fact fact, Instant at) {
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

    /**
     * What should happen now, from the state alone. Executing a step applies a fact that removes the step from this
     * list, except for {@link Step.WakeAt}, which stays until its time, and {@link Step.Close}, which ends the thread.
     */
    public static List<Step> nextSteps(Conversation state) {
        return Decider.nextSteps(state);
    }

    /**
     * The calls of the newest reply, in the model's order, if the worker that got the reply may run them at once: all
     * of them must be ready to run and safe to retry. Otherwise empty, and the calls are dispatched one by one.
     */
    public static List<Step.RunTool> callsToRunWithReply(Conversation state) {
        return Decider.callsToRunWithReply(state);
    }

    /** Why an inbound fact is refused in this state, at the time of its last change; empty if it is admitted. */
    public static Optional<Problem> refusal(Conversation state, Fact.Inbound fact) {
        return refusal(state, fact, state.updatedAt());
    }

    /** Why an inbound fact is refused in this state at this time; empty if it is admitted. */
    public static Optional<Problem> refusal(Conversation state, Fact.Inbound fact, Instant at) {
        return Admission.refusal(state, fact, at);
    }

    /** Why an update is refused; empty if it is accepted. A repeated delivery is acknowledged like the first one. */
    public static Optional<Problem> updateRefusal(Conversation state, Fact.Inbound fact, Instant at) {
        return refusal(state, fact, at).filter(problem -> !problem.type().equals(ProblemType.DUPLICATE));
    }

    /** The initial state of a thread that continues a closed one. */
    public static Conversation resume(Conversation over, Resumption how, Instant at) {
        Draft draft = new Draft(over, at);
        TakeoverRules.resume(draft, how);
        settle(draft);
        AnnouncementRules.takeOver(draft);
        countVersion(draft, over);
        // Resuming alone changes nothing visible, so the time of the last change is kept.
        return how.answer().isPresent() ? draft.state() : draft.state(over.updatedAt());
    }

    /** The initial state of a thread that is forked from another one. Both may continue. */
    public static Conversation fork(Conversation ancestor, ForkRequest how, Instant at) {
        Draft draft = new Draft(ancestor, at);
        TakeoverRules.fork(draft, how);
        settle(draft);
        AnnouncementRules.takeOver(draft);
        draft.counters.versions++;
        return draft.state();
    }

    /** The initial state of a thread whose start input has no room for whole results. */
    public static Conversation withoutWholeResults(Conversation begin) {
        Draft draft = new Draft(begin, begin.updatedAt());
        draft.book.longResults = List.of();
        return draft.state();
    }

    /**
     * A conversation to be built from the content of a checkpoint.
     *
     * @param repairing whether to repair violations instead of rejecting them: an earlier call without a result gets an
     *     error result, and a message between a call and its result is moved after the result
     */
    public static Restoration restore(Instant createdAt, boolean repairing) {
        return new Restoration(createdAt, repairing);
    }

    /**
     * A copy of a restored conversation for a reader who does not know its agent. The result of a call that has none in
     * the checkpoint says that the tool may not be safe to retry, except for {@code harmlessTools}.
     *
     * @param harmlessTools tools that are safe to retry with any agent
     */
    public static Conversation readWithoutAgent(Conversation restored, Set<String> harmlessTools) {
        Draft draft = new Draft(restored, restored.updatedAt());
        TakeoverRules.rewriteLostResultsWithoutAgent(draft, harmlessTools);
        return draft.state(restored.updatedAt());
    }

    /** A copy for a rehearsal: another definition of the agent decides, and there is no parent to report to. */
    public static Conversation inRehearsal(Conversation state, AgentPolicy other) {
        Draft draft = new Draft(state, state.updatedAt());
        UntrustedRules.agentForgotten(draft, false);
        draft.binding.policy = Optional.of(other);
        draft.beginPrefix();
        draft.parentLink.parent = Optional.empty();
        return draft.state();
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
