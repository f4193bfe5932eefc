package dev.waymark.conversation.rule;

import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import java.util.function.Consumer;

/** The rule for each fact: what the fact changes in a draft of the state. */
final class FactRules implements Fact.Cases<Consumer<Draft>> {
    private static final FactRules INSTANCE = new FactRules();
    private static final Consumer<Draft> NOTHING = draft -> {};

    private FactRules() {}

    static void apply(Draft draft, Fact fact) {
        fact.match(INSTANCE).accept(draft);
    }

    @Override
    public Consumer<Draft> runStarted(ThreadFact.RunStarted fact) {
        return NOTHING; // Its content is part of the initial state.
    }

    @Override
    public Consumer<Draft> agentRequested(ThreadFact.AgentRequested fact) {
        return AgentRules::agentRequested;
    }

    @Override
    public Consumer<Draft> agentResolved(ThreadFact.AgentResolved fact) {
        return draft -> AgentRules.agentResolved(draft, fact);
    }

    @Override
    public Consumer<Draft> agentRefused(ThreadFact.AgentRefused fact) {
        return draft -> AgentRules.agentRefused(draft, fact);
    }

    @Override
    public Consumer<Draft> modelCalled(ModelFact.ModelCalled fact) {
        return draft -> ModelRules.modelCalled(draft, fact);
    }

    @Override
    public Consumer<Draft> modelReplied(ModelFact.ModelReplied fact) {
        return draft -> ModelRules.modelReplied(draft, fact);
    }

    @Override
    public Consumer<Draft> modelFailed(ModelFact.ModelFailed fact) {
        return draft -> ModelRules.modelFailed(draft, fact);
    }

    @Override
    public Consumer<Draft> summaryRequested(ModelFact.SummaryRequested fact) {
        return draft -> ModelRules.summaryRequested(draft, fact);
    }

    @Override
    public Consumer<Draft> summarised(ModelFact.Summarised fact) {
        return draft -> ModelRules.summarised(draft, fact);
    }

    @Override
    public Consumer<Draft> summaryFailed(ModelFact.SummaryFailed fact) {
        return draft -> ModelRules.summaryFailed(draft, fact);
    }

    @Override
    public Consumer<Draft> toolDispatched(ToolFact.ToolDispatched fact) {
        return draft -> ToolRules.toolDispatched(draft, fact);
    }

    @Override
    public Consumer<Draft> toolFinished(ToolFact.ToolFinished fact) {
        return draft -> ToolRules.toolFinished(draft, fact);
    }

    @Override
    public Consumer<Draft> toolInterrupted(ToolFact.ToolInterrupted fact) {
        return draft -> ToolRules.toolInterrupted(draft, fact);
    }

    @Override
    public Consumer<Draft> toolSuspended(ToolFact.ToolSuspended fact) {
        return draft -> RemoteCallRules.toolSuspended(draft, fact);
    }

    @Override
    public Consumer<Draft> taskFollowed(ToolFact.TaskFollowed fact) {
        return draft -> RemoteCallRules.taskFollowed(draft, fact);
    }

    @Override
    public Consumer<Draft> taskCancelRequested(ToolFact.TaskCancelRequested fact) {
        return draft -> RemoteCallRules.taskCancelRequested(draft, fact);
    }

    @Override
    public Consumer<Draft> taskCancelled(ToolFact.TaskCancelled fact) {
        return NOTHING; // The server decides whether the task stops, and nothing waits for that.
    }

    @Override
    public Consumer<Draft> toolLost(ToolFact.ToolLost fact) {
        return draft -> ToolRules.toolLost(draft, fact);
    }

    @Override
    public Consumer<Draft> toolNotStarted(ToolFact.ToolNotStarted fact) {
        return draft -> ToolRules.toolNotStarted(draft, fact);
    }

    @Override
    public Consumer<Draft> toolClaimed(ToolFact.ToolClaimed fact) {
        return draft -> ClaimRules.toolClaimed(draft, fact);
    }

    @Override
    public Consumer<Draft> verdictRequested(ToolFact.VerdictRequested fact) {
        return draft -> CallRules.verdictRequested(draft, fact);
    }

    @Override
    public Consumer<Draft> verdictGiven(ToolFact.VerdictGiven fact) {
        return draft -> CallRules.verdictGiven(draft, fact);
    }

    @Override
    public Consumer<Draft> verdictFailed(ToolFact.VerdictFailed fact) {
        return draft -> CallRules.verdictFailed(draft, fact);
    }

    @Override
    public Consumer<Draft> verifyDispatched(ToolFact.VerifyDispatched fact) {
        return draft -> LostCallRules.verifyDispatched(draft, fact);
    }

    @Override
    public Consumer<Draft> toolEndedLate(ToolFact.ToolEndedLate fact) {
        return draft -> ToolRules.toolEndedLate(draft, fact);
    }

    @Override
    public Consumer<Draft> verifyLeft(ToolFact.VerifyLeft fact) {
        return draft -> LostCallRules.verifyLeft(draft, fact);
    }

    @Override
    public Consumer<Draft> toolVerified(ToolFact.ToolVerified fact) {
        return draft -> LostCallRules.toolVerified(draft, fact);
    }

    @Override
    public Consumer<Draft> subagentStarted(SubagentFact.SubagentStarted fact) {
        return draft -> SubagentRules.subagentStarted(draft, fact);
    }

    @Override
    public Consumer<Draft> subagentNotStarted(SubagentFact.SubagentNotStarted fact) {
        return draft -> SubagentRules.subagentNotStarted(draft, fact);
    }

    @Override
    public Consumer<Draft> subagentFinished(SubagentFact.SubagentFinished fact) {
        return draft -> SubagentRules.subagentFinished(draft, fact);
    }

    @Override
    public Consumer<Draft> subagentReported(SubagentFact.SubagentReported fact) {
        return draft -> SubagentRules.subagentReported(draft, fact);
    }

    @Override
    public Consumer<Draft> decisionPassedOn(SubagentFact.DecisionPassedOn fact) {
        return draft -> SubagentRules.decisionPassedOn(draft, fact);
    }

    @Override
    public Consumer<Draft> parentTold(SubagentFact.ParentTold fact) {
        return draft -> SubagentRules.parentTold(draft, fact);
    }

    @Override
    public Consumer<Draft> subagentsCutOff(SubagentFact.SubagentsCutOff fact) {
        return draft -> SubagentRules.subagentsCutOff(draft, fact);
    }

    @Override
    public Consumer<Draft> announcementBegun(AnnouncementFact.AnnouncementBegun fact) {
        return draft -> AnnouncementRules.begun(draft, fact);
    }

    @Override
    public Consumer<Draft> announcementEnded(AnnouncementFact.AnnouncementEnded fact) {
        return draft -> AnnouncementRules.ended(draft, fact);
    }

    @Override
    public Consumer<Draft> timePassed(ThreadFact.TimePassed fact) {
        return draft -> {
            CallRules.timePassed(draft);
            AnnouncementRules.timePassed(draft);
        };
    }

    @Override
    public Consumer<Draft> userSpoke(PersonFact.UserSpoke fact) {
        return draft -> PeopleRules.userSpoke(draft, fact);
    }

    @Override
    public Consumer<Draft> humanAnswered(PersonFact.HumanAnswered fact) {
        return draft -> PeopleRules.humanAnswered(draft, fact);
    }

    @Override
    public Consumer<Draft> approvalDecided(PersonFact.ApprovalDecided fact) {
        return draft -> PeopleRules.approvalDecided(draft, fact);
    }

    @Override
    public Consumer<Draft> grantRevoked(PersonFact.GrantRevoked fact) {
        return draft -> ApprovalRules.grantRevoked(draft, fact);
    }

    @Override
    public Consumer<Draft> outcomeSettled(PersonFact.OutcomeSettled fact) {
        return draft -> PeopleRules.outcomeSettled(draft, fact);
    }

    @Override
    public Consumer<Draft> budgetRaised(PersonFact.BudgetRaised fact) {
        return draft -> TurnRules.budgetRaised(draft, fact);
    }

    @Override
    public Consumer<Draft> stopped(PersonFact.Stopped fact) {
        return draft -> TurnRules.stopped(draft, fact);
    }

    @Override
    public Consumer<Draft> cleared(PersonFact.Cleared fact) {
        return draft -> TurnRules.cleared(draft, fact);
    }

    @Override
    public Consumer<Draft> closeRequested(PersonFact.CloseRequested fact) {
        return TurnRules::closeRequested;
    }

    @Override
    public Consumer<Draft> cancelRequested(ThreadFact.CancelRequested fact) {
        return TurnRules::cancelRequested;
    }

    @Override
    public Consumer<Draft> messageIgnored(ThreadFact.MessageIgnored fact) {
        return draft -> draft.ignore(fact.signal(), fact.problem().message());
    }

    @Override
    public Consumer<Draft> limitReached(ThreadFact.LimitReached fact) {
        return draft -> TurnRules.limitReached(draft, fact);
    }
}
