package dev.waymark.history;

import com.google.protobuf.ByteString;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.contract.SuccessorMarker;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Fetches histories from a server, completely or from a given event. Thread-safe. */
public final class HistoryReader {
    private static final long DESCRIBE_MILLIS = 10_000;

    private final WorkflowServiceStubs stubs;
    private final String namespace;
    private final HistoryPages pages;
    /** False after the server has turned out to be the in-memory server, which cannot read backwards. */
    private volatile boolean readsBackwards = true;

    /** Reads histories of this client's namespace, and decodes them if the client has a codec. */
    public HistoryReader(WorkflowClient client) {
        this.stubs = client.getWorkflowServiceStubs();
        this.namespace = client.getOptions().getNamespace();
        this.pages = new HistoryPages(client);
    }

    /**
     * Reads all new events into the projector.
     *
     * @throws PreviousRunGoneException if the run must fetch its state from a run that the server no longer has
     */
    public void catchUp(String workflowId, Projector projector) {
        readNew(workflowId, projector);
        readAwaited(workflowId, projector);
    }

    /**
     * Reads the previous run if the run is still fetching its state from there. Until the state arrives, readers see
     * the previous run's state.
     */
    private void readAwaited(String workflowId, Projector projector) {
        Optional<CarriedReference> awaited = projector.awaited();
        if (awaited.isEmpty()) {
            return;
        }
        Projector previous = new Projector(awaited.get().runId(), moment -> {});
        try {
            readNew(workflowId, previous);
        } catch (StatusRuntimeException e) {
            throw ServerAnswer.GONE.is(e)
                    ? new PreviousRunGoneException(awaited.get().runId())
                    : e;
        }
        projector.expect(previous);
    }

    private void readNew(String workflowId, Projector projector) {
        WorkflowExecution run = HistoryPages.execution(workflowId, projector.runId());
        if (projector.lastEventId() == 0 || !readsBackwards) {
            pages.forEach(run, projector::accept);
            return;
        }
        try {
            pages.since(run, projector.lastEventId()).forEach(projector::accept);
        } catch (StatusRuntimeException e) {
            if (!ServerAnswer.UNSUPPORTED.is(e)) {
                throw e;
            }
            readsBackwards = false;
            pages.forEach(run, projector::accept);
        }
    }

    /**
     * Waits for new events of a run with a long poll, which the server answers as soon as something happens. Occupies no
     * Java thread. Pass the result to {@link #take}. The future fails with the server's error, and with the status
     * {@code DEADLINE_EXCEEDED} if the server does not answer within {@code waitMillis}.
     */
    public CompletableFuture<Polled> poll(String workflowId, String runId, Following following, long waitMillis) {
        return poll(pages.poll(workflowId, runId, following.token), waitMillis);
    }

    /**
     * Waits for the end of a run with a long poll, which no other event answers. The future also completes or fails
     * when the server ends the poll.
     */
    public CompletableFuture<?> pollForTheEnd(String workflowId, String runId, long waitMillis) {
        return poll(pages.pollForTheEnd(workflowId, runId), waitMillis);
    }

    private CompletableFuture<Polled> poll(GetWorkflowExecutionHistoryRequest request, long waitMillis) {
        return PendingAnswer.of(
                stubs.futureStub()
                        .withDeadlineAfter(waitMillis, TimeUnit.MILLISECONDS)
                        .getWorkflowExecutionHistory(request),
                Polled::new);
    }

    /** The response to a poll, not yet decoded. */
    public static final class Polled {
        private final GetWorkflowExecutionHistoryResponse page;

        private Polled(GetWorkflowExecutionHistoryResponse page) {
            this.page = page;
        }
    }

    /** Reads the events of a poll into a projector. Returns false if there were no new events. */
    public boolean take(String workflowId, Projector projector, Following following, Polled polled) {
        long before = projector.lastEventId();
        polled.page.getHistory().getEventsList().stream()
                .map(pages.decoder(workflowId))
                .forEach(projector::accept);
        projector.pause();
        following.token = polled.page.getNextPageToken();
        return projector.lastEventId() > before;
    }

    /** The position in the history from which the next long poll continues. */
    public static final class Following {
        private ByteString token = ByteString.EMPTY;
    }

    /** The server's description of a thread's newest run, or empty if the server has no such thread. */
    public Optional<DescribeWorkflowExecutionResponse> describe(String workflowId) {
        try {
            return Optional.of(stubs.blockingStub().describeWorkflowExecution(describing(workflowId)));
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.GONE.is(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Like {@link #describe}, without occupying a Java thread. The future fails if there is no such thread. */
    public CompletableFuture<DescribeWorkflowExecutionResponse> askToDescribe(String workflowId) {
        return PendingAnswer.of(
                stubs.futureStub()
                        .withDeadlineAfter(DESCRIBE_MILLIS, TimeUnit.MILLISECONDS)
                        .describeWorkflowExecution(describing(workflowId)),
                description -> description);
    }

    private DescribeWorkflowExecutionRequest describing(String workflowId) {
        return DescribeWorkflowExecutionRequest.newBuilder()
                .setNamespace(namespace)
                .setExecution(HistoryPages.execution(workflowId, ""))
                .build();
    }

    Optional<String> newestRun(String workflowId) {
        return describe(workflowId)
                .map(description ->
                        description.getWorkflowExecutionInfo().getExecution().getRunId());
    }

    /**
     * The run that continues the thread after this one closed, or empty if the thread closed with it. A reset
     * terminates the old run without a reference to the new one, so after a termination the server is queried for a
     * newer run.
     */
    public Optional<String> successor(String workflowId, String runId, RunEnding ending) {
        if (ending.kind() != RunEnding.Kind.TERMINATED) {
            return ending.nextRunId();
        }
        return newestRun(workflowId).filter(newest -> !newest.equals(runId));
    }

    /**
     * The history of a thread, as far as the server still has it; empty if the server has none.
     *
     * @throws PreviousRunGoneException if the newest run must fetch its state from a run that the server no longer has
     */
    public Optional<Timeline> read(String workflowId) {
        return newestRun(workflowId).map(newest -> readToTheEnd(workflowId, newest));
    }

    /**
     * Like {@link #read}, but starts with this run. If the run has a successor, or gets one meanwhile, returns the
     * timeline of the newest run instead.
     */
    public Timeline readToTheEnd(String workflowId, String runId) {
        Timeline timeline = read(workflowId, runId);
        Optional<String> next = successor(workflowId, timeline);
        while (next.isPresent()) {
            timeline = read(workflowId, next.get());
            next = successor(workflowId, timeline);
        }
        return timeline;
    }

    private Optional<String> successor(String workflowId, Timeline timeline) {
        return timeline.ending().flatMap(ending -> successor(workflowId, timeline.runId(), ending));
    }

    private Timeline read(String workflowId, String newestRunId) {
        List<List<Moment>> runs = new ArrayList<>();
        Projector newest = project(workflowId, newestRunId, runs);
        Projector later = newest;
        Optional<String> earlier = newest.continuedFrom();
        boolean cut = false;
        while (earlier.isPresent()) {
            try {
                Projector previous = project(workflowId, earlier.get(), runs);
                later.expect(previous);
                later = previous;
                earlier = previous.continuedFrom();
            } catch (StatusRuntimeException e) {
                if (!ServerAnswer.GONE.is(e)) {
                    throw e;
                }
                earlier = Optional.empty();
                cut = true;
            }
        }
        Collections.reverse(runs);
        return newest.timeline(workflowId, runs.stream().flatMap(List::stream).toList(), cut);
    }

    /**
     * Projects the history of a thread, as far as the server still has it, and compares the digests that it records.
     * Also returns the newest run's state after the workflow task that started at {@code historyLength}, for comparison
     * with the state that a live run reports.
     */
    public Optional<DigestAudit> audit(String workflowId, long historyLength) {
        return newestRun(workflowId).map(newest -> audit(workflowId, newest, historyLength));
    }

    private DigestAudit audit(String workflowId, String newestRunId, long historyLength) {
        Projector newest = new Projector(newestRunId, moment -> {});
        AtomicReference<Optional<Conversation>> cutState = new AtomicReference<>(Optional.empty());
        pages.forEach(HistoryPages.execution(workflowId, newestRunId), event -> {
            newest.accept(event);
            if (newest.taskStartedId() <= historyLength) {
                cutState.set(newest.state());
            }
        });
        newest.expectedState(); // Throws if the rules are unknown, since nothing was projected then.
        int runs = 1;
        int modelCalls = newest.modelCalls();
        List<DigestMismatch> mismatches = new ArrayList<>(newest.mismatches());
        List<String> contradictions = new ArrayList<>(newest.contradictions());
        Optional<String> earlier = newest.continuedFrom();
        boolean cut = false;
        while (earlier.isPresent() && !cut) {
            Projector projector = new Projector(earlier.get(), moment -> {});
            try {
                pages.forEach(HistoryPages.execution(workflowId, earlier.get()), projector::accept);
                runs++;
                modelCalls += projector.modelCalls();
                mismatches.addAll(projector.mismatches());
                contradictions.addAll(projector.contradictions());
                earlier = projector.continuedFrom();
            } catch (StatusRuntimeException e) {
                if (!ServerAnswer.GONE.is(e)) {
                    throw e;
                }
                cut = true;
            }
        }
        return new DigestAudit(
                newestRunId,
                runs,
                modelCalls,
                mismatches,
                contradictions,
                newest.state(),
                Objects.requireNonNull(cutState.get()),
                cut);
    }

    /** The start input of a run. Reads only its first event. */
    public StartInput startInput(String workflowId, String runId) {
        return HistoryPages.startInput(pages.firstEvent(workflowId, runId));
    }

    public TraceIds traceIds(String workflowId, String runId) {
        HistoryEvent first = pages.firstEvent(workflowId, runId);
        return TraceIds.of(
                HistoryPages.firstRunId(first).orElse(runId),
                HistoryPages.startInput(first).traceparent());
    }

    /**
     * The id of the first run of the thread that this run belongs to. It does not change with a reset or
     * continue-as-new.
     */
    public String firstRunId(String workflowId, String runId) {
        return HistoryPages.firstRunId(pages.firstEvent(workflowId, runId)).orElse(runId);
    }

    /** The continuation that {@code marker} recorded for a closed thread; empty if there is no such marker. */
    public Optional<SuccessorMarker> continuation(String marker) {
        try {
            return Optional.of(HistoryPages.input(pages.firstEvent(marker, ""), SuccessorMarker.class));
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.GONE.is(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * The thread that continues a closed one, or is about to be started to continue it; empty if there is none. Threads
     * that ended because their agent was not found are skipped.
     *
     * @param marker the workflow id of the closed thread's first marker, see {@link SuccessorMarker}
     */
    public Optional<String> continuedAs(String marker) {
        return lastContinuation(marker).map(MarkedSuccessor::thread);
    }

    /** Like {@link #continuedAs}, with the marker that names the thread. */
    public Optional<MarkedSuccessor> lastContinuation(String marker) {
        Optional<SuccessorMarker> taken = continuation(marker);
        if (taken.isEmpty()) {
            return Optional.empty();
        }
        Optional<Timeline> idle = read(taken.get().thread()).filter(Timeline::lacksAgent);
        return idle.isEmpty()
                ? Optional.of(new MarkedSuccessor(marker, taken.get().thread()))
                : lastContinuation(SuccessorMarker.idAfter(marker, idle.get().runId()));
    }

    /**
     * A thread that continues a closed one.
     *
     * @param marker the workflow id of the marker that names the continuing thread
     */
    public record MarkedSuccessor(String marker, String thread) {}

    /** Whether a reset created this run, from a part of another run's history. */
    boolean isReset(String workflowId, String runId) {
        String original = pages.firstEvent(workflowId, runId)
                .getWorkflowExecutionStartedEventAttributes()
                .getOriginalExecutionRunId();
        return !original.isEmpty() && !original.equals(runId);
    }

    /** The run of the parent thread that started this run; empty if there is none. */
    Optional<WorkflowExecution> parent(String workflowId, String runId) {
        var started = pages.firstEvent(workflowId, runId).getWorkflowExecutionStartedEventAttributes();
        return started.hasParentWorkflowExecution()
                ? Optional.of(started.getParentWorkflowExecution())
                : Optional.empty();
    }

    /**
     * Whether the parent thread had started a thread with this name before a reset undid that. Retention may have
     * deleted the earlier thread, so that its name is free again.
     */
    public boolean wasBegunBefore(String workflowId, String runId) {
        Optional<WorkflowExecution> parent = parent(workflowId, runId);
        if (parent.isEmpty()) {
            return false;
        }
        String above = parent.get().getWorkflowId();
        String run = parent.get().getRunId();
        Optional<String> base = isReset(above, run) ? resetFrom(above, run) : Optional.empty();
        while (base.isPresent()) {
            if (hasBegun(above, base.get(), workflowId)) {
                return true;
            }
            base = isReset(above, base.get()) ? resetFrom(above, base.get()) : Optional.empty();
        }
        return false;
    }

    /** The run whose history a reset copied into this one. */
    private Optional<String> resetFrom(String workflowId, String runId) {
        List<String> bases = new ArrayList<>();
        pages.forEach(HistoryPages.execution(workflowId, runId), event -> {
            var failed = event.getWorkflowTaskFailedEventAttributes();
            if (event.hasWorkflowTaskFailedEventAttributes()
                    && failed.getNewRunId().equals(runId)) {
                bases.add(failed.getBaseRunId());
            }
        });
        return bases.stream().findFirst();
    }

    private boolean hasBegun(String workflowId, String runId, String child) {
        List<Long> begun = new ArrayList<>();
        try {
            pages.forEach(HistoryPages.execution(workflowId, runId), event -> {
                if (event.hasStartChildWorkflowExecutionInitiatedEventAttributes()
                        && event.getStartChildWorkflowExecutionInitiatedEventAttributes()
                                .getWorkflowId()
                                .equals(child)) {
                    begun.add(event.getEventId());
                }
            });
        } catch (StatusRuntimeException e) {
            if (!ServerAnswer.GONE.is(e)) {
                throw e;
            }
        }
        return !begun.isEmpty();
    }

    private Projector project(String workflowId, String runId, List<List<Moment>> runs) {
        List<Moment> moments = new ArrayList<>();
        Projector projector = new Projector(runId, moments::add);
        pages.forEach(HistoryPages.execution(workflowId, runId), projector::accept);
        projector.pause();
        runs.add(moments);
        return projector;
    }

    /** The ids of the activities that these events scheduled. */
    public static List<String> activitiesScheduledBy(List<Long> eventIds, History history) {
        return history.getEventsList().stream()
                .filter(event -> eventIds.contains(event.getEventId()))
                .map(event -> event.getActivityTaskScheduledEventAttributes().getActivityId())
                .toList();
    }

    public static long lastEventId(History history) {
        return history.getEvents(history.getEventsCount() - 1).getEventId();
    }
}
