package dev.waymark.history;

import dev.waymark.connect.ServerAnswer;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.common.WorkflowExecutionHistory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/** Reads the events of whole threads from a server. Also reads histories that cannot be projected. */
public final class ThreadHistoryReader {
    private final HistoryReader histories;
    private final HistoryPages pages;
    private final ThreadListing listing;

    public ThreadHistoryReader(WorkflowClient client) {
        this.histories = new HistoryReader(client);
        this.pages = new HistoryPages(client);
        this.listing = new ThreadListing(
                client.getWorkflowServiceStubs(), client.getOptions().getNamespace());
    }

    /**
     * The ids of all open threads, including subagents' threads, sorted.
     *
     * @param since includes closed threads that started after this time
     * @param filter a further condition of a visibility query; ignored with the in-memory server, which does not
     *     support queries
     */
    public List<String> threads(Optional<Instant> since, Optional<String> filter) {
        String condition = since.map(ThreadListing::openOrStartedAfter).orElse(ThreadListing.IS_OPEN)
                + filter.map(more -> " AND (" + more + ")").orElse("");
        List<WorkflowExecutionInfo> found;
        try {
            found = listing.all(condition);
        } catch (StatusRuntimeException e) {
            if (!ServerAnswer.UNSUPPORTED.is(e)) {
                throw e;
            }
            found = listing.inMemory(since.isEmpty()).stream()
                    .filter(info -> since.isEmpty() || isOpenOrStartedAfter(since.get(), info))
                    .toList();
        }
        return found.stream()
                .map(info -> info.getExecution().getWorkflowId())
                .distinct()
                .sorted()
                .toList();
    }

    private static boolean isOpenOrStartedAfter(Instant time, WorkflowExecutionInfo info) {
        return info.getStatus() == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
                || Instant.ofEpochSecond(info.getStartTime().getSeconds()).isAfter(time);
    }

    /** The thread with all runs that the server still has, decoded; empty if the server has none. */
    public Optional<ThreadHistory> read(String workflowId) {
        return histories.newestRun(workflowId).map(newest -> read(workflowId, newest));
    }

    private ThreadHistory read(String workflowId, String newestRunId) {
        List<ThreadHistory.Run> runs = new ArrayList<>();
        UnaryOperator<HistoryEvent> decoder = pages.decoder(workflowId);
        AtomicBoolean encrypted = new AtomicBoolean();
        Optional<String> next = Optional.of(newestRunId);
        while (next.isPresent()) {
            String runId = next.get();
            History.Builder events = History.newBuilder();
            try {
                pages.forEachStored(HistoryPages.execution(workflowId, runId), event -> {
                    events.addEvents(decoder.apply(event));
                    encrypted.set(encrypted.get() || HistoryDecoder.isEncrypted(event));
                });
            } catch (StatusRuntimeException e) {
                if (!ServerAnswer.GONE.is(e) || runs.isEmpty()) {
                    throw e;
                }
                break;
            }
            WorkflowExecutionHistory history = new WorkflowExecutionHistory(events.build(), workflowId);
            runs.add(0, new ThreadHistory.Run(runId, history, Optional.empty()));
            next = Optional.of(events.getEvents(0)
                            .getWorkflowExecutionStartedEventAttributes()
                            .getContinuedExecutionRunId())
                    .filter(previous -> !previous.isEmpty());
        }
        return new ThreadHistory(workflowId, runs, encrypted.get());
    }
}
