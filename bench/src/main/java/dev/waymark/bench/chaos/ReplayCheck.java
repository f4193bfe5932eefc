package dev.waymark.bench.chaos;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryReplay;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.workflow.AgentReplay;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks that the projection of a thread agrees with its workflow, and that every run of the thread replays.
 * Thread-safe.
 */
public final class ReplayCheck implements AutoCloseable {
    private static final Path BROKEN = Path.of("target", "broken-histories");

    private final Connection connection;
    private final AgentClient client;
    private final AgentReplay replay = new AgentReplay();

    public ReplayCheck(Connection connection) {
        this.connection = connection;
        this.client = AgentClient.connect(connection.address());
    }

    /** Returns a text for each guarantee that the thread broke. */
    public List<String> violations(Timeline timeline) {
        String thread = timeline.thread();
        List<String> violations =
                new ArrayList<>(client.inspector().verify(thread).differences());
        timeline.moments().stream()
                .map(Moment::runId)
                .distinct()
                .flatMap(runId -> violation(thread, runId).stream())
                .forEach(violations::add);
        return violations;
    }

    private Optional<String> violation(String thread, String runId) {
        WorkflowExecutionHistory history = connection.client().fetchHistory(thread, runId);
        Optional<String> problem =
                replay.replay(HistoryAudit.replayable(history)).map(HistoryReplay.Failure::message);
        try {
            HistoryCheck.check(history);
        } catch (AssertionError e) {
            problem = Optional.of(e.toString());
        }
        return problem.map(found -> "history of " + runId + ", kept as " + keep(history, runId) + ": " + found);
    }

    /** Saves the history of a run that failed, because the failure may not happen again. */
    private static Path keep(WorkflowExecutionHistory history, String runId) {
        Path file = BROKEN.resolve(runId + ".json");
        try {
            Files.createDirectories(BROKEN);
            Files.writeString(file, history.toJson(true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    @Override
    public void close() {
        replay.close();
        client.close();
    }
}
