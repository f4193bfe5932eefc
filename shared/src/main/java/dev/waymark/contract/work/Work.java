package dev.waymark.contract.work;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Work that a workflow starts, as an activity or as a subagent's thread. Defines for each kind the fact that starts it,
 * its result type, and the facts for its result and its failure.
 *
 * <p>The workflow applies these facts, and the projector derives them from history, so both always agree.
 *
 * @param <R> the result type
 */
public sealed interface Work<R> {
    /** The fact that the work was started. */
    Fact begun();

    Class<R> resultType();

    Fact completed(R result);

    /**
     * The facts of this result, in order: usually one. The result of a model call may include outcomes of the reply's
     * calls.
     *
     * @param state the state to which the first of the facts is applied
     */
    default List<Fact> completed(R result, Conversation state) {
        return List.of(completed(result));
    }

    /**
     * The fact that the work failed.
     *
     * @param failure the exception of an activity, or the cause of a child workflow's exception; null if an operator
     *     completed the work without a payload
     */
    Fact failed(@Nullable Throwable failure);

    /** Whether the thread still waits for this work; otherwise it is cancelled. */
    boolean isAwaited(Conversation state);

    /** Resolves the agent's definition. */
    record Agent() implements Work<AgentSpec> {
        @Override
        public Fact begun() {
            return new ThreadFact.AgentRequested();
        }

        @Override
        public Class<AgentSpec> resultType() {
            return AgentSpec.class;
        }

        @Override
        public Fact completed(AgentSpec result) {
            return new ThreadFact.AgentResolved(AgentPolicies.of(result));
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ThreadFact.AgentRefused(ActivityFailures.problem(failure));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsAgent();
        }
    }

    /** Calls the model, and runs the calls of its reply if the input asks for it. */
    record Model(int step) implements Work<ModelResult> {
        @Override
        public Fact begun() {
            return new ModelFact.ModelCalled(step);
        }

        @Override
        public Class<ModelResult> resultType() {
            return ModelResult.class;
        }

        @Override
        public Fact completed(ModelResult result) {
            return new ModelFact.ModelReplied(step, result.reply());
        }

        /**
         * The reply, then the dispatches of the calls that ran with it, then their outcomes. If the thread no longer
         * waits for the reply, only the reply is returned, for its cost: a later reply may have a call with the same
         * id.
         */
        @Override
        public List<Fact> completed(ModelResult result, Conversation state) {
            List<Fact> facts = new ArrayList<>();
            facts.add(completed(result));
            if (isAwaited(state)) {
                result.ran().forEach(ran -> facts.add(ran.work().begun()));
                result.ran().forEach(ran -> facts.add(ran.work().completed(ran.outcome())));
            }
            return List.copyOf(facts);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ModelFact.ModelFailed(step, ActivityFailures.problem(failure), ActivityFailures.spent(failure));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsModel(step);
        }
    }

    /** Lets the model write a summary. */
    record Summary(int step) implements Work<ModelResult> {
        @Override
        public Fact begun() {
            return new ModelFact.SummaryRequested(step);
        }

        @Override
        public Class<ModelResult> resultType() {
            return ModelResult.class;
        }

        @Override
        public Fact completed(ModelResult result) {
            return new ModelFact.Summarised(step, result.reply());
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ModelFact.SummaryFailed(
                    step, ActivityFailures.problem(failure), ActivityFailures.spent(failure));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsModel(step);
        }
    }

    /** A dispatch of a call to a worker. */
    record Tool(String callId, int dispatch) implements Work<ToolOutcome> {
        @Override
        public Fact begun() {
            return new ToolFact.ToolDispatched(callId, dispatch);
        }

        @Override
        public Class<ToolOutcome> resultType() {
            return ToolOutcome.class;
        }

        @Override
        public Fact completed(ToolOutcome result) {
            return result.toFact(callId, dispatch);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ToolFact.ToolLost(callId, dispatch, ActivityFailures.problem(failure));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsTool(callId, dispatch);
        }
    }

    /** Follows the task of a call's server, until the task has ended or needs input. */
    record FollowTask(String callId, int dispatch) implements Work<ToolOutcome> {
        @Override
        public Fact begun() {
            return new ToolFact.TaskFollowed(callId, dispatch);
        }

        @Override
        public Class<ToolOutcome> resultType() {
            return ToolOutcome.class;
        }

        @Override
        public Fact completed(ToolOutcome result) {
            return result.toFact(callId, dispatch);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return ActivityFailures.followed(callId, dispatch, failure);
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsTask(callId, dispatch);
        }
    }

    /** Tells a server that the thread no longer waits for its task. */
    record CancelTask(String callId) implements Work<ToolOutcome> {
        @Override
        public Fact begun() {
            return new ToolFact.TaskCancelRequested(callId);
        }

        @Override
        public Class<ToolOutcome> resultType() {
            return ToolOutcome.class;
        }

        @Override
        public Fact completed(ToolOutcome result) {
            return new ToolFact.TaskCancelled(callId, Optional.empty());
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ToolFact.TaskCancelled(callId, Optional.of(ActivityFailures.problem(failure)));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return true; // It ends soon, and stopping the thread must not stop it.
        }
    }

    /** Asks the agent's rules whether a call may run. */
    record Judge(String callId) implements Work<CallVerdict> {
        @Override
        public Fact begun() {
            return new ToolFact.VerdictRequested(callId);
        }

        @Override
        public Class<CallVerdict> resultType() {
            return CallVerdict.class;
        }

        @Override
        public Fact completed(CallVerdict result) {
            return new ToolFact.VerdictGiven(callId, result);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new ToolFact.VerdictFailed(callId, ActivityFailures.problem(failure));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsVerdict(callId);
        }
    }

    /** Checks whether a lost dispatch took effect. */
    record Verify(String callId, int dispatch) implements Work<VerifyOutcome> {
        @Override
        public Fact begun() {
            return new ToolFact.VerifyDispatched(callId, dispatch);
        }

        @Override
        public Class<VerifyOutcome> resultType() {
            return VerifyOutcome.class;
        }

        @Override
        public Fact completed(VerifyOutcome result) {
            return result.toFact(callId, dispatch);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return ActivityFailures.verify(callId, dispatch, failure);
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsVerify(callId, dispatch);
        }
    }

    /** Sends announcements to a receiver. The result is their number. */
    record Announce(int number) implements Work<Integer> {
        @Override
        public Fact begun() {
            return new AnnouncementFact.AnnouncementBegun(number);
        }

        @Override
        public Class<Integer> resultType() {
            return Integer.class;
        }

        @Override
        public Fact completed(Integer result) {
            return new AnnouncementFact.AnnouncementEnded(number, Optional.empty());
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return new AnnouncementFact.AnnouncementEnded(number, Optional.of(ActivityFailures.problem(failure)));
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsAnnouncement(number);
        }
    }

    /** A subagent's thread, which executes a call within this budget. */
    record Subagent(String callId, Optional<Budget> budget) implements Work<RunOutcome> {
        @Override
        public Fact begun() {
            return new SubagentFact.SubagentStarted(callId, budget);
        }

        @Override
        public Class<RunOutcome> resultType() {
            return RunOutcome.class;
        }

        @Override
        public Fact completed(RunOutcome result) {
            return result.toFact(callId);
        }

        @Override
        public Fact failed(@Nullable Throwable failure) {
            return ActivityFailures.subagent(callId, failure);
        }

        @Override
        public boolean isAwaited(Conversation state) {
            return state.awaitsSubagent(callId);
        }
    }
}
