package dev.waymark.conversation.fact;

import dev.waymark.annotation.Internal;
import java.util.Optional;

/**
 * Something that happened. The state is the result of applying a thread's facts in order.
 *
 * <p>Facts are derived from history and never stored themselves. {@code watch} prints their {@link #type}.
 */
public sealed interface Fact permits Fact.Inbound, ThreadFact, ModelFact, ToolFact, SubagentFact, AnnouncementFact {
    /** The name of the fact's class in kebab case, such as {@code model-replied}. Programs read these names. */
    default String type() {
        return FactTypes.NAMES.get(getClass());
    }

    @Internal
    <R> R match(Cases<R> cases);

    /**
     * A fact that a person, a program, an activity or a subagent's thread sends. It may be refused. A refused fact is
     * recorded as an ignored signal.
     */
    sealed interface Inbound extends Fact
            permits PersonFact, ToolFact.ToolClaimed, ToolFact.ToolEndedLate, SubagentFact.SubagentReported {
        /** The name of the signal or update that brought the fact. */
        String signal();

        @Internal
        <R> R match(InboundCases<R> cases);

        @Override
        default <R> R match(Cases<R> cases) {
            return match((InboundCases<R>) cases);
        }

        /** The id with which the fact was sent, to detect repeated deliveries. */
        default Optional<String> messageId() {
            return Optional.empty();
        }
    }

    /** One method for each fact that may be refused, so that the compiler finds unhandled ones. */
    @Internal
    interface InboundCases<R> {
        R toolClaimed(ToolFact.ToolClaimed fact);

        R toolEndedLate(ToolFact.ToolEndedLate fact);

        R subagentReported(SubagentFact.SubagentReported fact);

        R userSpoke(PersonFact.UserSpoke fact);

        R humanAnswered(PersonFact.HumanAnswered fact);

        R approvalDecided(PersonFact.ApprovalDecided fact);

        R grantRevoked(PersonFact.GrantRevoked fact);

        R outcomeSettled(PersonFact.OutcomeSettled fact);

        R budgetRaised(PersonFact.BudgetRaised fact);

        R stopped(PersonFact.Stopped fact);

        R cleared(PersonFact.Cleared fact);

        R closeRequested(PersonFact.CloseRequested fact);
    }

    /** One method for each fact, so that the compiler finds unhandled ones. */
    @Internal
    interface Cases<R> extends InboundCases<R> {
        R runStarted(ThreadFact.RunStarted fact);

        R agentRequested(ThreadFact.AgentRequested fact);

        R agentResolved(ThreadFact.AgentResolved fact);

        R agentRefused(ThreadFact.AgentRefused fact);

        R modelCalled(ModelFact.ModelCalled fact);

        R modelReplied(ModelFact.ModelReplied fact);

        R modelFailed(ModelFact.ModelFailed fact);

        R summaryRequested(ModelFact.SummaryRequested fact);

        R summarised(ModelFact.Summarised fact);

        R summaryFailed(ModelFact.SummaryFailed fact);

        R toolDispatched(ToolFact.ToolDispatched fact);

        R toolFinished(ToolFact.ToolFinished fact);

        R toolInterrupted(ToolFact.ToolInterrupted fact);

        R toolSuspended(ToolFact.ToolSuspended fact);

        R taskFollowed(ToolFact.TaskFollowed fact);

        R taskCancelRequested(ToolFact.TaskCancelRequested fact);

        R taskCancelled(ToolFact.TaskCancelled fact);

        R toolLost(ToolFact.ToolLost fact);

        R toolNotStarted(ToolFact.ToolNotStarted fact);

        R verdictRequested(ToolFact.VerdictRequested fact);

        R verdictGiven(ToolFact.VerdictGiven fact);

        R verdictFailed(ToolFact.VerdictFailed fact);

        R verifyDispatched(ToolFact.VerifyDispatched fact);

        R verifyLeft(ToolFact.VerifyLeft fact);

        R toolVerified(ToolFact.ToolVerified fact);

        R subagentStarted(SubagentFact.SubagentStarted fact);

        R subagentNotStarted(SubagentFact.SubagentNotStarted fact);

        R subagentFinished(SubagentFact.SubagentFinished fact);

        R decisionPassedOn(SubagentFact.DecisionPassedOn fact);

        R parentTold(SubagentFact.ParentTold fact);

        R subagentsCutOff(SubagentFact.SubagentsCutOff fact);

        R announcementBegun(AnnouncementFact.AnnouncementBegun fact);

        R announcementEnded(AnnouncementFact.AnnouncementEnded fact);

        R timePassed(ThreadFact.TimePassed fact);

        R cancelRequested(ThreadFact.CancelRequested fact);

        R messageIgnored(ThreadFact.MessageIgnored fact);

        R limitReached(ThreadFact.LimitReached fact);
    }
}
