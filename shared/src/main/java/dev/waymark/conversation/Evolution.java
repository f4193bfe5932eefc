package dev.waymark.conversation;

import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Applies one fact: makes a draft of the state, lets the rules for the fact's subject change the draft, and applies all
 * immediate consequences.
 *
 * <p>Consequences that need nothing from outside happen here, not in steps: turns end and open, and versions are
 * counted. A reader of history therefore needs only the facts.
 */
final class Evolution implements Fact.Cases<Runnable> {
    private static final Runnable NOTHING = () -> {};

    private final Conversation before;
    private final Draft draft;

    private final TurnRules turns;
    private final ModelRules model;
    private final CallRules calls;
    private final RemoteCallRules remote;
    private final ToolRules tools;
    private final ClaimRules claims;
    private final LostCallRules lost;
    private final SubagentRules subagents;
    private final PeopleRules people;
    private final AgentRules agent;
    private final AnnouncementRules announcements;
    private final TakeoverRules takeover;

    private Evolution(Conversation before, Instant at) {
        this.before = before;
        this.draft = new Draft(before, at);
        EffectRules effects = new EffectRules(draft);
        ApprovalRules approvals = new ApprovalRules(draft);
        turns = new TurnRules(draft);
        lost = new LostCallRules(draft, approvals, effects);
        claims = new ClaimRules(draft, effects, lost);
        remote = new RemoteCallRules(draft, approvals);
        calls = new CallRules(draft, approvals, lost, remote);
        tools = new ToolRules(draft, approvals, effects, lost, remote);
        model = new ModelRules(draft, turns, calls, approvals);
        subagents = new SubagentRules(draft, lost);
        people = new PeopleRules(draft, turns, model, calls, approvals, lost, remote, subagents);
        takeover = new TakeoverRules(draft, turns, model, calls, approvals, effects, lost, remote, people);
        agent = new AgentRules(draft, turns, effects, takeover);
        announcements = new AnnouncementRules(draft);
    }

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
        return new Evolution(before, at).apply(fact);
    }

    /** The initial state of a thread that continues a closed one. */
    static Conversation resume(Conversation over, Resumption how, Instant at) {
        Evolution evolution = new Evolution(over, at);
        evolution.takeover.resume(how);
        evolution.settle();
        evolution.announcements.takeOver();
        evolution.countVersion();
        // Resuming alone changes nothing visible, so the time of the last change is kept.
        return how.answer().isPresent() ? evolution.draft.state() : evolution.draft.state(over.updatedAt());
    }

    /** The initial state of a thread that is forked from another one. Both may continue. */
    static Conversation fork(Conversation ancestor, ForkRequest how, Instant at) {
        Evolution evolution = new Evolution(ancestor, at);
        evolution.takeover.fork(how);
        evolution.settle();
        evolution.announcements.takeOver();
        evolution.draft.counters.versions++;
        return evolution.draft.state();
    }

    /** A restored conversation for a reader who does not know its agent. */
    static Conversation readWithoutAgent(Conversation restored, Set<String> harmlessTools) {
        Evolution evolution = new Evolution(restored, restored.updatedAt());
        evolution.takeover.tellWithoutAgent(harmlessTools);
        return evolution.draft.state(restored.updatedAt());
    }

    private Conversation apply(Fact fact) {
        draft.counters.facts++;
        Optional<Problem> refusal =
                fact instanceof Fact.Inbound inbound ? Admission.refusal(before, inbound, draft.at) : Optional.empty();
        if (refusal.isPresent()) {
            draft.ignore(((Fact.Inbound) fact).signal(), refusal.get().message());
        } else {
            if (fact instanceof Fact.Inbound inbound) {
                inbound.messageId()
                        .ifPresent(id -> draft.arrivals.seen = draft.arrivals.seen.with(id, draft.counters.facts));
            }
            fact.match(this).run();
            settle();
            announcements.settle(before);
        }
        countVersion();
        return draft.state();
    }

    /**
     * Applies immediate consequences: a held call is released when the identical call before it has ended, a queued
     * message opens the next turn when a turn completes, and a turn at its limit ends.
     */
    private void settle() {
        calls.releaseHeldCalls();
        turns.settle();
    }

    private void countVersion() {
        if (draft.versionReached || (draft.isInterrupted() && !before.isInterrupted())) {
            draft.counters.versions++;
        }
    }

    @Override
    public Runnable runStarted(ThreadFact.RunStarted fact) {
        return NOTHING; // Its content is part of the initial state.
    }

    @Override
    public Runnable agentRequested(ThreadFact.AgentRequested fact) {
        return agent::agentRequested;
    }

    @Override
    public Runnable agentResolved(ThreadFact.AgentResolved fact) {
        return () -> agent.agentResolved(fact);
    }

    @Override
    public Runnable agentRefused(ThreadFact.AgentRefused fact) {
        return () -> agent.agentRefused(fact);
    }

    @Override
    public Runnable modelCalled(ModelFact.ModelCalled fact) {
        return () -> model.modelCalled(fact);
    }

    @Override
    public Runnable modelReplied(ModelFact.ModelReplied fact) {
        return () -> model.modelReplied(fact);
    }

    @Override
    public Runnable modelFailed(ModelFact.ModelFailed fact) {
        return () -> model.modelFailed(fact);
    }

    @Override
    public Runnable summaryRequested(ModelFact.SummaryRequested fact) {
        return () -> model.summaryRequested(fact);
    }

    @Override
    public Runnable summarised(ModelFact.Summarised fact) {
        return () -> model.summarised(fact);
    }

    @Override
    public Runnable summaryFailed(ModelFact.SummaryFailed fact) {
        return () -> model.summaryFailed(fact);
    }

    @Override
    public Runnable toolDispatched(ToolFact.ToolDispatched fact) {
        return () -> tools.toolDispatched(fact);
    }

    @Override
    public Runnable toolFinished(ToolFact.ToolFinished fact) {
        return () -> tools.toolFinished(fact);
    }

    @Override
    public Runnable toolInterrupted(ToolFact.ToolInterrupted fact) {
        return () -> tools.toolInterrupted(fact);
    }

    @Override
    public Runnable toolSuspended(ToolFact.ToolSuspended fact) {
        return () -> remote.toolSuspended(fact);
    }

    @Override
    public Runnable taskFollowed(ToolFact.TaskFollowed fact) {
        return () -> remote.taskFollowed(fact);
    }

    @Override
    public Runnable taskCancelRequested(ToolFact.TaskCancelRequested fact) {
        return () -> remote.taskCancelRequested(fact);
    }

    @Override
    public Runnable taskCancelled(ToolFact.TaskCancelled fact) {
        return NOTHING; // The server decides whether the task stops, and nothing waits for that.
    }

    @Override
    public Runnable toolLost(ToolFact.ToolLost fact) {
        return () -> tools.toolLost(fact);
    }

    @Override
    public Runnable toolNotStarted(ToolFact.ToolNotStarted fact) {
        return () -> tools.toolNotStarted(fact);
    }

    @Override
    public Runnable toolClaimed(ToolFact.ToolClaimed fact) {
        return () -> claims.toolClaimed(fact);
    }

    @Override
    public Runnable verdictRequested(ToolFact.VerdictRequested fact) {
        return () -> calls.verdictRequested(fact);
    }

    @Override
    public Runnable verdictGiven(ToolFact.VerdictGiven fact) {
        return () -> calls.verdictGiven(fact);
    }

    @Override
    public Runnable verdictFailed(ToolFact.VerdictFailed fact) {
        return () -> calls.verdictFailed(fact);
    }

    @Override
    public Runnable verifyDispatched(ToolFact.VerifyDispatched fact) {
        return () -> lost.verifyDispatched(fact);
    }

    @Override
    public Runnable toolEndedLate(ToolFact.ToolEndedLate fact) {
        return () -> tools.toolEndedLate(fact);
    }

    @Override
    public Runnable verifyLeft(ToolFact.VerifyLeft fact) {
        return () -> lost.verifyLeft(fact);
    }

    @Override
    public Runnable toolVerified(ToolFact.ToolVerified fact) {
        return () -> lost.toolVerified(fact);
    }

    @Override
    public Runnable subagentStarted(SubagentFact.SubagentStarted fact) {
        return () -> subagents.subagentStarted(fact);
    }

    @Override
    public Runnable subagentNotStarted(SubagentFact.SubagentNotStarted fact) {
        return () -> subagents.subagentNotStarted(fact);
    }

    @Override
    public Runnable subagentFinished(SubagentFact.SubagentFinished fact) {
        return () -> subagents.subagentFinished(fact);
    }

    @Override
    public Runnable subagentReported(SubagentFact.SubagentReported fact) {
        return () -> subagents.subagentReported(fact);
    }

    @Override
    public Runnable decisionPassedOn(SubagentFact.DecisionPassedOn fact) {
        return () -> subagents.decisionPassedOn(fact);
    }

    @Override
    public Runnable parentTold(SubagentFact.ParentTold fact) {
        return () -> subagents.parentTold(fact);
    }

    @Override
    public Runnable subagentsCutOff(SubagentFact.SubagentsCutOff fact) {
        return () -> subagents.subagentsCutOff(fact);
    }

    @Override
    public Runnable announcementBegun(AnnouncementFact.AnnouncementBegun fact) {
        return () -> announcements.begun(fact);
    }

    @Override
    public Runnable announcementEnded(AnnouncementFact.AnnouncementEnded fact) {
        return () -> announcements.ended(fact);
    }

    @Override
    public Runnable timePassed(ThreadFact.TimePassed fact) {
        return () -> {
            calls.timePassed();
            announcements.timePassed();
        };
    }

    @Override
    public Runnable userSpoke(PersonFact.UserSpoke fact) {
        return () -> people.userSpoke(fact);
    }

    @Override
    public Runnable humanAnswered(PersonFact.HumanAnswered fact) {
        return () -> people.humanAnswered(fact);
    }

    @Override
    public Runnable approvalDecided(PersonFact.ApprovalDecided fact) {
        return () -> people.approvalDecided(fact);
    }

    @Override
    public Runnable grantRevoked(PersonFact.GrantRevoked fact) {
        return () -> people.grantRevoked(fact);
    }

    @Override
    public Runnable outcomeSettled(PersonFact.OutcomeSettled fact) {
        return () -> people.outcomeSettled(fact);
    }

    @Override
    public Runnable budgetRaised(PersonFact.BudgetRaised fact) {
        return () -> turns.budgetRaised(fact);
    }

    @Override
    public Runnable stopped(PersonFact.Stopped fact) {
        return () -> turns.stopped(fact);
    }

    @Override
    public Runnable cleared(PersonFact.Cleared fact) {
        return () -> turns.cleared(fact);
    }

    @Override
    public Runnable closeRequested(PersonFact.CloseRequested fact) {
        return turns::closeRequested;
    }

    @Override
    public Runnable cancelRequested(ThreadFact.CancelRequested fact) {
        return turns::cancelRequested;
    }

    @Override
    public Runnable messageIgnored(ThreadFact.MessageIgnored fact) {
        return () -> draft.ignore(fact.signal(), fact.problem().message());
    }

    @Override
    public Runnable limitReached(ThreadFact.LimitReached fact) {
        return () -> turns.limitReached(fact);
    }
}
