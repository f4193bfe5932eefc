package dev.waymark.contract.work;

import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.common.converter.DataConverterException;
import io.temporal.common.converter.Values;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.TerminatedFailure;
import io.temporal.failure.TimeoutFailure;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts failures of activities to problems and facts, in the same way for the workflow and for readers of its
 * history.
 */
public final class ActivityFailures {
    /** The types of key failures. */
    private static final Set<String> TYPES_WITHOUT_KEYS =
            Set.of(ProblemType.KEY_STORE_UNAVAILABLE, ProblemType.KEY_PROBLEM);

    private static final String FAILED = "failed";

    private ActivityFailures() {}

    static Problem problem(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof ActivityFailure && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof ApplicationFailure application) {
            String type = Optional.ofNullable(application.getType())
                    .map(ActivityFailures::leftIfWithoutKeys)
                    .orElse(ProblemType.ACTIVITY_FAILED);
            return new Problem(
                    type, Optional.ofNullable(application.getOriginalMessage()).orElse(type));
        }
        if (cause instanceof TimeoutFailure timeout) {
            return new Problem(ProblemType.TIMEOUT, words(timeout));
        }
        if (cause instanceof CanceledFailure) {
            return new Problem(ProblemType.CANCELLED, "cancelled");
        }
        return new Problem(ProblemType.ACTIVITY_FAILED, "the activity failed");
    }

    /**
     * Replaces the type of a key failure by {@link Problem#UNKNOWN_RULES}: a worker that cannot read the thread leaves
     * the work to others, like one that does not know the thread's rules.
     */
    private static String leftIfWithoutKeys(String type) {
        return TYPES_WITHOUT_KEYS.contains(type) ? ProblemType.UNKNOWN_RULES : type;
    }

    /** The fact for a failed check. Workers that cannot read the thread leave the check to others. */
    static Fact verify(String callId, int dispatch, @Nullable Throwable failure) {
        Problem problem = problem(failure);
        return problem.type().equals(ProblemType.UNKNOWN_RULES)
                ? new ToolFact.VerifyLeft(callId, dispatch)
                : VerifyOutcome.unknown(problem.message()).toFact(callId, dispatch);
    }

    /**
     * The fact for a task that can't be followed any more. Its outcome is unknown, unless the workers only left it to
     * others.
     */
    static Fact followed(String callId, int dispatch, @Nullable Throwable failure) {
        Problem problem = problem(failure);
        return new ToolFact.ToolLost(
                callId,
                dispatch,
                problem.type().equals(ProblemType.UNKNOWN_RULES)
                        ? problem
                        : new Problem(ProblemType.OUTCOME_UNKNOWN, problem.message()));
    }

    /** The fact for a subagent's thread that failed without a result. */
    static Fact subagent(String callId, @Nullable Throwable cause) {
        if (cause instanceof WorkflowExecutionAlreadyStarted) {
            return new SubagentFact.SubagentNotStarted(callId, true, "there is a thread of its name");
        }
        String how = childEnd(cause);
        Optional<Problem> problem = how.equals(FAILED) ? Optional.of(problem(cause)) : Optional.empty();
        return new SubagentFact.SubagentFinished(callId, how, "", problem, Optional.empty());
    }

    /** How a thread ended, as a child workflow without a result, that failed for this cause. */
    public static String childEnd(@Nullable Throwable cause) {
        if (cause instanceof CanceledFailure) {
            return "cancelled";
        }
        if (cause instanceof TerminatedFailure) {
            return "terminated";
        }
        return cause instanceof TimeoutFailure ? "timed-out" : FAILED;
    }

    /**
     * The spending of a failed model call's attempts. A failure has the spending in its details; a lost worker has sent
     * it with its heartbeats.
     */
    static Spent spent(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof ActivityFailure && failure.getCause() != null ? failure.getCause() : failure;
        try {
            if (cause instanceof ApplicationFailure application) {
                return detail(application.getDetails(), Spent.class).orElse(Spent.NOTHING);
            }
            if (cause instanceof TimeoutFailure timeout) {
                return detail(timeout.getLastHeartbeatDetails(), PartialReply.class)
                        .flatMap(PartialReply::spent)
                        .orElse(Spent.NOTHING);
            }
        } catch (DataConverterException e) {
            return Spent.NOTHING; // Anyone may fail an activity, with any details.
        }
        return Spent.NOTHING;
    }

    private static <T> Optional<T> detail(@Nullable Values details, Class<T> type) {
        return details == null || details.getSize() == 0 ? Optional.empty() : Optional.ofNullable(details.get(0, type));
    }

    private static String words(TimeoutFailure timeout) {
        return switch (timeout.getTimeoutType()) {
            case TIMEOUT_TYPE_HEARTBEAT -> "the worker was lost";
            case TIMEOUT_TYPE_SCHEDULE_TO_START -> "no worker took it in time";
            case TIMEOUT_TYPE_START_TO_CLOSE -> "timed out";
            case TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, TIMEOUT_TYPE_UNSPECIFIED, UNRECOGNIZED -> "timed out for good";
        };
    }
}
