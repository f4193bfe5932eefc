package dev.waymark.worker.activity;

import dev.waymark.conversation.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import io.grpc.StatusRuntimeException;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** How an activity says that it failed. The types are stored in histories. */
public final class ActivityProblems {
    /** The server could not be asked for the run's own history. */
    private static final String HISTORY_UNREADABLE = "HistoryUnreadable";

    /** Not so short that this worker is busy with nothing else, and not so long that the thread waits for nothing. */
    private static final Duration LEFT_FOR = Duration.ofSeconds(1);

    /** Messages quote what others sent, and a failure that is too large for the server is none. */
    private static final int LONGEST_MESSAGE = 4_000;

    private ActivityProblems() {}

    /** Trying again would end the same way. */
    public static ApplicationFailure permanent(Problem problem) {
        return ApplicationFailure.newNonRetryableFailure(message(problem), problem.type());
    }

    /** The same, and this was spent on it. */
    public static ApplicationFailure permanent(Problem problem, Spent spent) {
        return ApplicationFailure.newNonRetryableFailure(message(problem), problem.type(), details(spent));
    }

    /** Trying again may help, no sooner than this if it is given. */
    public static ApplicationFailure passing(Problem problem, Optional<Duration> retryAfter) {
        return passing(problem, retryAfter, Spent.NOTHING);
    }

    /** The same, and this was spent on it. */
    public static ApplicationFailure passing(Problem problem, Optional<Duration> retryAfter, Spent spent) {
        ApplicationFailure.Builder failure = ApplicationFailure.newBuilder()
                .setMessage(message(problem))
                .setType(problem.type())
                .setDetails(details(spent));
        retryAfter.ifPresent(failure::setNextRetryDelay);
        return failure.build();
    }

    private static String message(Problem problem) {
        String message = problem.message();
        return message.length() > LONGEST_MESSAGE ? message.substring(0, LONGEST_MESSAGE) + "…" : message;
    }

    private static Object[] details(Spent spent) {
        return spent.isNothing() ? new Object[0] : new Object[] {spent};
    }

    /** Leaves an activity to other workers: this one can't read the thread. The workflow has it tried until one can. */
    public static ApplicationFailure left(UnknownRulesException why) {
        return passing(new Problem(Problem.UNKNOWN_RULES, String.valueOf(why.getMessage())), Optional.of(LEFT_FOR));
    }

    /**
     * Reads from the server. An outage is a passing problem, a thread with newer rules is left to newer workers, and a
     * history that does not fold is corruption.
     */
    public static <T> T reading(Supplier<T> read) {
        try {
            return read.get();
        } catch (StatusRuntimeException e) {
            String words = "the run's history can't be read: " + e.getStatus().getCode();
            throw passing(new Problem(HISTORY_UNREADABLE, words), Optional.empty());
        } catch (UnknownRulesException e) {
            throw left(e);
        } catch (IllegalStateException | IllegalArgumentException e) {
            throw permanent(new Problem(Problem.CORRUPTION, String.valueOf(e.getMessage())));
        }
    }
}
