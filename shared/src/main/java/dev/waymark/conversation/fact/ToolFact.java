package dev.waymark.conversation.fact;

import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** A fact about one tool call, or about the check of a lost call. */
public sealed interface ToolFact extends Fact {
    /** A call was dispatched to a worker for the {@code dispatch}-th time. */
    record ToolDispatched(String callId, int dispatch) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolDispatched(this);
        }
    }

    /**
     * A tool returned a result or an error.
     *
     * @param notDone whether the error proves that nothing took effect
     */
    record ToolFinished(String callId, int dispatch, String content, boolean isError, boolean notDone)
            implements ToolFact {
        public ToolFinished(String callId, int dispatch, String content, boolean isError) {
            this(callId, dispatch, content, isError, false);
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolFinished(this);
        }
    }

    /** A tool asked a person a question instead of returning a result. */
    record ToolInterrupted(String callId, int dispatch, String question) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolInterrupted(this);
        }
    }

    /**
     * The tool's server has started the call but not finished it: it works on the call as a task, or requires input.
     */
    record ToolSuspended(String callId, int dispatch, Suspension suspension) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolSuspended(this);
        }
    }

    /** A worker was given the task of a call's server to follow. */
    record TaskFollowed(String callId, int dispatch) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.taskFollowed(this);
        }
    }

    /** A worker was given a task to cancel because this thread no longer waits for it. */
    record TaskCancelRequested(String callId) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.taskCancelRequested(this);
        }
    }

    /**
     * The server was told to cancel the task.
     *
     * @param problem why it could not be told; empty if it was told
     */
    record TaskCancelled(String callId, Optional<Problem> problem) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.taskCancelled(this);
        }
    }

    /**
     * A dispatch ended without a result: its activity failed for good or timed out, or the tool itself does not know
     * its outcome (type {@code OutcomeUnknown}).
     */
    record ToolLost(String callId, int dispatch, Problem problem) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolLost(this);
        }
    }

    /**
     * An execution of a dispatched call requested permission to take effect. The request comes as an update, so that it
     * gets an answer.
     *
     * @param repeat the call's repeat count when it was dispatched, which determines the idempotency key
     * @param restored whether the claim was granted before a reset that undid the grant. Readers may also set this for
     *     a claim that was granted in time; it then has no effect.
     * @param grant the number of the grant that let the call run, if one did
     */
    record ToolClaimed(
            String callId,
            int dispatch,
            String tool,
            String argsDigest,
            int repeat,
            String execution,
            boolean restored,
            Optional<Integer> grant)
            implements ToolFact, Fact.Inbound {
        public ToolClaimed(
                String callId,
                int dispatch,
                String tool,
                String argsDigest,
                int repeat,
                String execution,
                boolean restored) {
            this(callId, dispatch, tool, argsDigest, repeat, execution, restored, Optional.empty());
        }

        @Override
        public String signal() {
            return SignalNames.CLAIM;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.toolClaimed(this);
        }
    }

    /**
     * An execution reported that its tool did not run and will not run. {@code execution} is the name that the
     * execution uses in claims. {@code definition} is the digest of the tool's definition, if the tool did not run
     * because it is not the one that was approved.
     */
    record ToolNotStarted(String callId, int dispatch, String execution, String reason, Optional<String> definition)
            implements ToolFact {
        public ToolNotStarted(String callId, int dispatch, String execution, String reason) {
            this(callId, dispatch, execution, reason, Optional.empty());
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolNotStarted(this);
        }
    }

    /**
     * An execution that holds a claim reported its outcome after the thread stopped waiting for its dispatch.
     *
     * @param execution the name that the execution used in its claim
     * @param end the fact that would have been applied in time
     */
    record ToolEndedLate(String callId, String execution, Fact end) implements ToolFact, Fact.Inbound {
        public ToolEndedLate {
            if (!(end instanceof ToolFinished
                    || end instanceof ToolInterrupted
                    || end instanceof ToolSuspended
                    || end instanceof ToolNotStarted)) {
                throw new IllegalArgumentException("a fact that does not end the execution of a tool: " + end.type());
            }
        }

        @Override
        public String signal() {
            return SignalNames.LATE_OUTCOME;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.toolEndedLate(this);
        }
    }

    /** The agent's rules were asked whether a call may run with its arguments. */
    record VerdictRequested(String callId) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verdictRequested(this);
        }
    }

    /** The agent's rules said whether a call may run with its arguments. */
    record VerdictGiven(String callId, CallVerdict verdict) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verdictGiven(this);
        }
    }

    /** The activity that asks the agent's rules failed for good. */
    record VerdictFailed(String callId, Problem problem) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verdictFailed(this);
        }
    }

    /** The check of a lost dispatch was dispatched. */
    record VerifyDispatched(String callId, int dispatch) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyDispatched(this);
        }
    }

    /** The check has no result: the workers that took it left it to others. */
    record VerifyLeft(String callId, int dispatch) implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.verifyLeft(this);
        }
    }

    /**
     * The check of a lost dispatch ended. {@code landed} is empty if the check could not tell whether the call took
     * effect.
     */
    record ToolVerified(String callId, int dispatch, Optional<Boolean> landed, Optional<String> result)
            implements ToolFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.toolVerified(this);
        }
    }
}
