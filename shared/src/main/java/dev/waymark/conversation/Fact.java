package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.VerifiedSubject;
import java.util.List;
import java.util.Optional;

/**
 * Something that happened. The state is the fold of these facts.
 *
 * <p>Facts are derived from history and never stored themselves. {@link #type} is printed by {@code watch}.
 */
public sealed interface Fact {
    /** The fact's name, in kebab case. */
    String type();

    <R> R match(Cases<R> cases);

    /** A fact sent by people or programs. It may be refused; a refused one is recorded as ignored. */
    sealed interface Inbound extends Fact {
        /** The name of its signal or update. */
        String signal();

        <R> R match(InboundCases<R> cases);

        @Override
        default <R> R match(Cases<R> cases) {
            return match((InboundCases<R>) cases);
        }

        /** The id under which it was sent, to detect repeated deliveries. */
        default Optional<String> messageId() {
            return Optional.empty();
        }
    }

    /** A thread started, under rule version {@code rules}. */
    record RunStarted(
            int rules,
            String agent,
            boolean once,
            Optional<Integer> maxIterations,
            Optional<Json> context,
            Optional<Parent> parent,
            Optional<String> session)
            implements Fact {
        /** A thread without a parent, whose idempotency keys are derived from its own id. */
        public RunStarted(int rules, String agent, boolean once, Optional<Integer> maxIterations) {
            this(rules, agent, once, maxIterations, Optional.empty(), Optional.empty(), Optional.empty());
        }

        @Override
        public String type() {
            return "run-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.runStarted(this);
        }
    }

    /** The agent's definition was requested. */
    record AgentRequested() implements Fact {
        @Override
        public String type() {
            return "agent-requested";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentRequested(this);
        }
    }

    /** The agent's definition arrived and is recorded. */
    record AgentResolved(AgentPolicy terms) implements Fact {
        @Override
        public String type() {
            return "agent-resolved";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentResolved(this);
        }
    }

    /** The agent does not exist or cannot be used. */
    record AgentRefused(Problem problem) implements Fact {
        @Override
        public String type() {
            return "agent-refused";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentRefused(this);
        }
    }

    /** Results and queued messages were committed to the transcript, and the model was called. */
    record ModelCalled(int step) implements Fact {
        @Override
        public String type() {
            return "model-called";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelCalled(this);
        }
    }

    /** The model replied. */
    record ModelReplied(int step, Reply reply) implements Fact {
        @Override
        public String type() {
            return "model-replied";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelReplied(this);
        }
    }

    /** The model call failed for good. */
    record ModelFailed(int step, Problem problem, Spent spent) implements Fact {
        public ModelFailed(int step, Problem problem) {
            this(step, problem, Spent.NOTHING);
        }

        @Override
        public String type() {
            return "model-failed";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.modelFailed(this);
        }
    }

    /** Results and queued messages were committed to the transcript, and a summary of its older part was requested. */
    record SummaryRequested(int step) implements Fact {
        @Override
        public String type() {
            return "summary-requested";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summaryRequested(this);
        }
    }

    /** The model's summary replaces the older part of the conversation. */
    record Summarised(int step, Reply reply) implements Fact {
        @Override
        public String type() {
            return "summarised";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summarised(this);
        }
    }

    /** The summary failed for good. The conversation continues unchanged. */
    record SummaryFailed(int step, Problem problem, Spent spent) implements Fact {
        @Override
        public String type() {
            return "summary-failed";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.summaryFailed(this);
        }
    }

    /** A call was dispatched to a worker for the {@code dispatch}-th time. */
    record ToolDispatched(String callId, int dispatch) implements Fact {
        @Override
        public String type() {
            return "tool-dispatched";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolDispatched(this);
        }
    }

    /**
     * A tool reported its result.
     *
     * @param notDone whether the error proves that nothing took effect
     */
    record ToolFinished(String callId, int dispatch, String content, boolean isError, boolean notDone) implements Fact {
        public ToolFinished(String callId, int dispatch, String content, boolean isError) {
            this(callId, dispatch, content, isError, false);
        }

        @Override
        public String type() {
            return "tool-finished";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolFinished(this);
        }
    }

    /** A tool asks a person before it can give a result. */
    record ToolInterrupted(String callId, int dispatch, String question) implements Fact {
        @Override
        public String type() {
            return "tool-interrupted";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolInterrupted(this);
        }
    }

    /**
     * No result can arrive any more: retries are exhausted, or the tool itself does not know its outcome, which {@link
     * Problem#OUTCOME_UNKNOWN} says.
     */
    record ToolLost(String callId, int dispatch, Problem problem) implements Fact {
        @Override
        public String type() {
            return "tool-lost";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolLost(this);
        }
    }

    /**
     * An execution of a dispatch asked to be the one that takes effect. It comes as an update, so that it gets an
     * answer.
     *
     * @param repeat the call's repeat count when it was dispatched, which determines the key of the effect
     * @param restored whether it was granted before, and a reset undid that. A claim that was granted in time means the
     * same either way, so it does not matter if copies of it look restored.
     */
    record ToolClaimed(
            String callId, int dispatch, String tool, String argsDigest, int repeat, String execution, boolean restored)
            implements Inbound {
        @Override
        public String signal() {
            return SignalNames.CLAIM;
        }

        @Override
        public String type() {
            return "tool-claimed";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.toolClaimed(this);
        }
    }

    /** An execution reports that its tool did not run and will not. {@code execution} is its claim name. */
    record ToolNotStarted(String callId, int dispatch, String execution, String reason) implements Fact {
        @Override
        public String type() {
            return "tool-not-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolNotStarted(this);
        }
    }

    /**
     * An execution that holds a claim reported its outcome after its dispatch was no longer awaited.
     *
     * @param execution the name under which it claimed
     * @param end the fact that would have been applied in time
     */
    record ToolEndedLate(String callId, String execution, Fact end) implements Inbound {
        public ToolEndedLate {
            if (!(end instanceof ToolFinished || end instanceof ToolInterrupted || end instanceof ToolNotStarted)) {
                throw new IllegalArgumentException("no end of a tool: " + end.type());
            }
        }

        @Override
        public String signal() {
            return SignalNames.LATE_OUTCOME;
        }

        @Override
        public String type() {
            return "tool-ended-late";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.toolEndedLate(this);
        }
    }

    /** The check found nothing out: workers that took it left it to others. */
    record VerifyLeft(String callId, int dispatch) implements Fact {
        @Override
        public String type() {
            return "verify-left";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyLeft(this);
        }
    }

    /** The check of a lost dispatch was dispatched. */
    record VerifyDispatched(String callId, int dispatch) implements Fact {
        @Override
        public String type() {
            return "verify-dispatched";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyDispatched(this);
        }
    }

    /** The check of a lost dispatch ended. */
    record ToolVerified(String callId, int dispatch, Optional<Boolean> landed, Optional<String> result)
            implements Fact {
        @Override
        public String type() {
            return "tool-verified";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolVerified(this);
        }
    }

    /** A subagent was asked to execute a call, with this budget. */
    record SubagentStarted(String callId, Optional<Budget> budget) implements Fact {
        @Override
        public String type() {
            return "subagent-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentStarted(this);
        }
    }

    /** No thread could be started for a call. {@code exists} if one with its name exists, whose effects are unknown. */
    record SubagentNotStarted(String callId, boolean exists, String reason) implements Fact {
        @Override
        public String type() {
            return "subagent-not-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentNotStarted(this);
        }
    }

    /**
     * A subagent's thread ended.
     *
     * @param status the status of its last turn, or of the thread itself
     * @param text its final reply
     * @param spent its total spending, if it could still report it
     */
    record SubagentFinished(String callId, String status, String text, Optional<Problem> problem, Optional<Spent> spent)
            implements Fact {
        @Override
        public String type() {
            return "subagent-finished";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentFinished(this);
        }
    }

    /** A subagent's thread reported its progress. */
    record SubagentReported(String callId, SubagentProgress report) implements Inbound {
        @Override
        public String signal() {
            return SignalNames.SUBAGENT;
        }

        @Override
        public String type() {
            return "subagent-reported";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.subagentReported(this);
        }
    }

    /** The oldest decision for a subagent's thread was passed on. */
    record DecisionPassedOn(String callId) implements Fact {
        @Override
        public String type() {
            return "decision-passed-on";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.decisionPassedOn(this);
        }
    }

    /** The parent thread was told this thread's progress. */
    record ParentTold(SubagentProgress report) implements Fact {
        @Override
        public String type() {
            return "parent-told";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.parentTold(this);
        }
    }

    /** Subagents could not be awaited any longer. */
    record SubagentsCutOff(Problem problem) implements Fact {
        @Override
        public String type() {
            return "subagents-cut-off";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentsCutOff(this);
        }
    }

    /** Some waiting time is over. */
    record TimePassed() implements Fact {
        @Override
        public String type() {
            return "time-passed";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.timePassed(this);
        }
    }

    /**
     * Someone sent a message, replaced the conversation, or asked to repeat the last turn.
     *
     * @param schema the JSON Schema that the turn's final reply has to match
     */
    record UserSpoke(
            Optional<String> id,
            Optional<List<Message>> replacement,
            Optional<Message> content,
            boolean retry,
            Optional<Json> schema)
            implements Inbound {
        public UserSpoke(
                Optional<String> id, Optional<List<Message>> replacement, Optional<Message> content, boolean retry) {
            this(id, replacement, content, retry, Optional.empty());
        }

        @Override
        public String signal() {
            return SignalNames.SAY;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public String type() {
            return "user-spoke";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.userSpoke(this);
        }
    }

    /** Someone answered a question. */
    record HumanAnswered(Optional<String> id, Optional<String> callId, String answer, Optional<String> by)
            implements Inbound {
        @Override
        public String signal() {
            return SignalNames.ANSWER;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public String type() {
            return "human-answered";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.humanAnswered(this);
        }
    }

    /**
     * Someone decided about a call that waits for approval.
     *
     * @param args what is to run instead of what the model wanted
     * @param argsDigest of the arguments that the decision is about, so that it can't be about others
     * @param signature of {@code by}, where decisions have to be signed
     * @param verified who decided, where a server checked that
     */
    record ApprovalDecided(
            boolean approved,
            Optional<String> id,
            Optional<String> callId,
            Optional<Json> args,
            Optional<String> argsDigest,
            Optional<String> by,
            Optional<String> reason,
            Optional<String> signature,
            Optional<VerifiedSubject> verified)
            implements Inbound {
        /** One whose sender nobody checked. */
        public ApprovalDecided(
                boolean approved,
                Optional<String> id,
                Optional<String> callId,
                Optional<Json> args,
                Optional<String> argsDigest,
                Optional<String> by,
                Optional<String> reason,
                Optional<String> signature) {
            this(approved, id, callId, args, argsDigest, by, reason, signature, Optional.empty());
        }

        /** An unsigned settlement. */
        public ApprovalDecided(
                boolean approved,
                Optional<String> id,
                Optional<String> callId,
                Optional<Json> args,
                Optional<String> argsDigest,
                Optional<String> by,
                Optional<String> reason) {
            this(approved, id, callId, args, argsDigest, by, reason, Optional.empty());
        }

        @Override
        public String signal() {
            return approved ? SignalNames.APPROVE : SignalNames.DENY;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public String type() {
            return "approval-decided";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.approvalDecided(this);
        }
    }

    /** A person's decision about a call with an unknown outcome. The names are shown to users and sent. */
    enum Settlement {
        /** It took effect. */
        @JsonProperty("done")
        DONE("done"),
        /** It did not take effect and should run again. */
        @JsonProperty("rerun")
        RERUN("rerun"),
        /** The outcome stays unknown. */
        @JsonProperty("give-up")
        GIVE_UP("give-up");

        private final String wireName;

        Settlement(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    /** Someone settled a call with an unknown outcome. */
    record OutcomeSettled(
            String callId,
            Settlement settlement,
            Optional<String> result,
            Optional<String> by,
            Optional<String> signature,
            Optional<VerifiedSubject> verified)
            implements Inbound {
        /** One that nobody signed, and whose sender nobody checked. */
        public OutcomeSettled(String callId, Settlement settlement, Optional<String> result, Optional<String> by) {
            this(callId, settlement, result, by, Optional.empty(), Optional.empty());
        }

        @Override
        public String signal() {
            return SignalNames.SETTLE;
        }

        @Override
        public String type() {
            return "outcome-settled";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.outcomeSettled(this);
        }
    }

    /** Someone raised a limit. */
    record BudgetRaised(Optional<Integer> iterations, Budget budget, Optional<String> by) implements Inbound {
        public BudgetRaised(Optional<Integer> iterations, Optional<String> by) {
            this(iterations, Budget.UNLIMITED, by);
        }

        @Override
        public String signal() {
            return SignalNames.BUDGET;
        }

        @Override
        public String type() {
            return "budget-raised";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.budgetRaised(this);
        }
    }

    /** Someone ended the turn. */
    record Stopped(Optional<String> by) implements Inbound {
        @Override
        public String signal() {
            return SignalNames.STOP;
        }

        @Override
        public String type() {
            return "stopped";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.stopped(this);
        }
    }

    /** Someone deleted the conversation, and with {@code all} also the results of its side effects. */
    record Cleared(boolean all, Optional<String> by) implements Inbound {
        @Override
        public String signal() {
            return SignalNames.CLEAR;
        }

        @Override
        public String type() {
            return "cleared";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.cleared(this);
        }
    }

    /** Someone asked the thread to close once it is idle. */
    record CloseRequested(Optional<String> by) implements Inbound {
        @Override
        public String signal() {
            return SignalNames.CLOSE;
        }

        @Override
        public String type() {
            return "close-requested";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.closeRequested(this);
        }
    }

    /** The thread was cancelled, with its running work. */
    record CancelRequested() implements Fact {
        @Override
        public String type() {
            return "cancel-requested";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.cancelRequested(this);
        }
    }

    /** Something that arrived was ignored. */
    record MessageIgnored(String signal, Problem problem) implements Fact {
        @Override
        public String type() {
            return "message-ignored";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.messageIgnored(this);
        }
    }

    /** The conversation cannot grow any further. */
    record LimitReached(Problem problem) implements Fact {
        @Override
        public String type() {
            return "limit-reached";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.limitReached(this);
        }
    }

    /** One method for each fact that may be refused, so that the compiler finds unhandled ones. */
    interface InboundCases<R> {
        R toolClaimed(ToolClaimed fact);

        R toolEndedLate(ToolEndedLate fact);

        R subagentReported(SubagentReported fact);

        R userSpoke(UserSpoke fact);

        R humanAnswered(HumanAnswered fact);

        R approvalDecided(ApprovalDecided fact);

        R outcomeSettled(OutcomeSettled fact);

        R budgetRaised(BudgetRaised fact);

        R stopped(Stopped fact);

        R cleared(Cleared fact);

        R closeRequested(CloseRequested fact);
    }

    /** One method for each fact, so that the compiler finds unhandled ones. */
    interface Cases<R> extends InboundCases<R> {
        R runStarted(RunStarted fact);

        R agentRequested(AgentRequested fact);

        R agentResolved(AgentResolved fact);

        R agentRefused(AgentRefused fact);

        R modelCalled(ModelCalled fact);

        R modelReplied(ModelReplied fact);

        R modelFailed(ModelFailed fact);

        R summaryRequested(SummaryRequested fact);

        R summarised(Summarised fact);

        R summaryFailed(SummaryFailed fact);

        R toolDispatched(ToolDispatched fact);

        R toolFinished(ToolFinished fact);

        R toolInterrupted(ToolInterrupted fact);

        R toolLost(ToolLost fact);

        R toolNotStarted(ToolNotStarted fact);

        R verifyDispatched(VerifyDispatched fact);

        R verifyLeft(VerifyLeft fact);

        R toolVerified(ToolVerified fact);

        R subagentStarted(SubagentStarted fact);

        R subagentNotStarted(SubagentNotStarted fact);

        R subagentFinished(SubagentFinished fact);

        R decisionPassedOn(DecisionPassedOn fact);

        R parentTold(ParentTold fact);

        R subagentsCutOff(SubagentsCutOff fact);

        R timePassed(TimePassed fact);

        R cancelRequested(CancelRequested fact);

        R messageIgnored(MessageIgnored fact);

        R limitReached(LimitReached fact);
    }
}
