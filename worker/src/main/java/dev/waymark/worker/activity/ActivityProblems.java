package dev.waymark.worker.activity;

import dev.waymark.codec.KeyStoreException;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import io.grpc.StatusRuntimeException;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates the failures of activities. The types are stored in histories. */
public final class ActivityProblems {

    /** Retry delay: long enough not to keep this worker busy with retries, and short enough not to delay the thread. */
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private ActivityProblems() {}

    /** Creates a failure that is not retried, because a retry would fail in the same way. */
    public static ApplicationFailure permanent(Problem problem) {
        return ApplicationFailure.newNonRetryableFailure(problem.message(), problem.type());
    }

    /** Like {@link #permanent(Problem)}, and records what the attempts have spent. */
    public static ApplicationFailure permanent(Problem problem, Spent spent) {
        return ApplicationFailure.newNonRetryableFailure(problem.message(), problem.type(), details(spent));
    }

    /** Creates a failure that a retry may resolve. If a delay is given, the retry comes after this delay. */
    public static ApplicationFailure passing(Problem problem, Optional<Duration> retryAfter) {
        return passing(problem, retryAfter, Spent.NOTHING);
    }

    /** Like {@link #passing(Problem, Optional)}, and records what the attempts have spent. */
    public static ApplicationFailure passing(Problem problem, Optional<Duration> retryAfter, Spent spent) {
        ApplicationFailure.Builder failure = ApplicationFailure.newBuilder()
                .setMessage(problem.message())
                .setType(problem.type())
                .setDetails(details(spent));
        retryAfter.ifPresent(failure::setNextRetryDelay);
        return failure.build();
    }

    private static Object[] details(Spent spent) {
        return spent.isNothing() ? new Object[0] : new Object[] {spent};
    }

    /**
     * Creates a failure that leaves the activity to other workers, because this worker cannot read the thread. The
     * activity is retried until a worker can.
     */
    public static ApplicationFailure leftToOthers(RuntimeException why) {
        return passing(
                new Problem(ProblemType.UNKNOWN_RULES, String.valueOf(why.getMessage())), Optional.of(RETRY_DELAY));
    }

    /**
     * Reads from the server, and converts exceptions to failures: an outage is retryable, a thread with newer rules or
     * with a key that cannot be read now is left to other workers, and a history from which no state can be computed is
     * corruption.
     */
    public static <T> T reading(Supplier<T> read) {
        try {
            return read.get();
        } catch (StatusRuntimeException e) {
            String words = "the run's history can't be read: " + e.getStatus().getCode();
            throw passing(new Problem(ProblemType.HISTORY_UNREADABLE, words), Optional.empty());
        } catch (UnknownRulesException | KeyStoreException e) {
            throw leftToOthers(e);
        } catch (IllegalStateException | IllegalArgumentException e) {
            throw permanent(new Problem(ProblemType.CORRUPTION, String.valueOf(e.getMessage())));
        }
    }
}
