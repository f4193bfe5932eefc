package dev.waymark.worker.workflow;

import dev.waymark.contract.PayloadJson;
import dev.waymark.history.HistoryReplay;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.TestEnvironmentOptions;
import io.temporal.testing.TestWorkflowEnvironment;
import io.temporal.testing.WorkflowReplayer;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Replays histories with the workflow code of this build. */
public final class AgentReplay implements HistoryReplay {
    /** Matches the SDK's description of the event that the workflow code contradicts. */
    private static final Pattern EVENT = Pattern.compile("Failure handling event (\\d+) of type '(\\w+)'");

    /** Matches the causes of a failed replay, which the SDK reports as text with a stack trace. */
    private static final Pattern CAUSE = Pattern.compile("(?m)^Caused by: ([\\w.$]+(?:: .*)?)$");

    /** Deadlock timeout: replaying a long history on a busy machine must not be taken for a deadlock. */
    private static final Duration SLOW_MACHINE = Duration.ofSeconds(30);

    private final TestWorkflowEnvironment environment;
    private final Worker worker;

    public AgentReplay() {
        environment = TestWorkflowEnvironment.newInstance(TestEnvironmentOptions.newBuilder()
                .setWorkflowClientOptions(WorkflowClientOptions.newBuilder()
                        .setDataConverter(PayloadJson.dataConverter())
                        .build())
                .build());
        worker = environment.newWorker(
                "replay",
                WorkerOptions.newBuilder()
                        .setDefaultDeadlockDetectionTimeout(SLOW_MACHINE.toMillis())
                        .build());
        worker.registerWorkflowImplementationTypes(AgentWorkflowImpl.class);
    }

    @Override
    public Optional<Failure> replay(WorkflowExecutionHistory history) {
        try {
            WorkflowReplayer.replayWorkflowExecution(history, worker);
            return Optional.empty();
        } catch (Exception e) {
            return Optional.of(failure(e));
        }
    }

    private static Failure failure(Exception problem) {
        String text = Stream.<Throwable>iterate(problem, Objects::nonNull, Throwable::getCause)
                .map(Throwable::toString)
                .collect(Collectors.joining("\nCaused by: "));
        Matcher event = EVENT.matcher(text);
        String last = text.lines().findFirst().orElse("");
        Matcher cause = CAUSE.matcher(text);
        while (cause.find()) {
            last = cause.group(1);
        }
        return event.find()
                ? new Failure(Optional.of(Long.parseLong(event.group(1))), event.group(2) + ": " + last)
                : new Failure(Optional.empty(), last);
    }

    @Override
    public void close() {
        environment.close();
    }
}
