package dev.waymark.contract;

import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Problem;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.ChildWorkflowFailure;
import io.temporal.failure.TerminatedFailure;
import io.temporal.failure.TimeoutFailure;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a failed activity comes to, in the same words for the workflow and for whoever reads its history. */
public final class Failures {
    private Failures() {}

    public static Problem problem(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof ActivityFailure && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof ApplicationFailure application) {
            String type = Optional.ofNullable(application.getType()).orElse(Names.ACTIVITY_FAILED);
            return new Problem(
                    type, Optional.ofNullable(application.getOriginalMessage()).orElse(type));
        }
        if (cause instanceof TimeoutFailure timeout) {
            return new Problem(Names.TIMEOUT, words(timeout));
        }
        if (cause instanceof CanceledFailure) {
            return new Problem(Names.CANCELLED, "cancelled");
        }
        return new Problem(Names.ACTIVITY_FAILED, "the activity failed");
    }

    /** What a subagent's thread came to that could not say so itself. */
    public static Fact subagent(String callId, @Nullable Throwable failure) {
        Throwable cause =
                failure instanceof ChildWorkflowFailure && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof WorkflowExecutionAlreadyStarted) {
            return subagentExists(callId);
        }
        if (cause instanceof CanceledFailure) {
            return subagentEnded(callId, "cancelled", Optional.empty());
        }
        if (cause instanceof TerminatedFailure) {
            return subagentEnded(callId, "terminated", Optional.empty());
        }
        if (cause instanceof TimeoutFailure) {
            return subagentEnded(callId, "timed-out", Optional.empty());
        }
        return subagentEnded(callId, "failed", Optional.of(problem(cause)));
    }

    public static Fact subagentEnded(String callId, String how, Optional<Problem> problem) {
        return new Fact.SubagentFinished(callId, how, "", problem, Optional.empty());
    }

    public static Fact subagentExists(String callId) {
        return new Fact.SubagentNotStarted(callId, true, "there is a thread of its name");
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
