package dev.waymark.client.connection;

import com.google.protobuf.util.Durations;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.history.PendingAnswer;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.common.v1.WorkflowType;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.api.query.v1.WorkflowQuery;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflowservice.v1.QueryWorkflowRequest;
import io.temporal.api.workflowservice.v1.QueryWorkflowResponse;
import io.temporal.api.workflowservice.v1.StartWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.StartWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceFutureStub;
import io.temporal.common.converter.DataConverter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks workers for the text of running model calls: one query per worker for all calls that this process follows,
 * several times a second. Occupies no Java thread. Thread-safe.
 */
public final class WorkerWords {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerWords.class);

    /** The payloads have no codec: their parts of a conversation are encrypted separately. */
    private static final DataConverter PLAIN = PayloadJson.dataConverter();

    /** After this time, a worker counts as gone, and the text of its calls comes from heartbeats. */
    private static final long PATIENCE_MILLIS = 3_000;

    private static final long LEAST_PAUSE_MILLIS = 50;
    /** The longest pause, on a slow connection, and if models think for a long time. */
    private static final long MOST_PAUSE_MILLIS = 500;

    private static final int SILENT_AFTER_QUERIES = 60;

    /** The pause before a worker that did not answer is asked again. */
    private static final Duration LEFT_ALONE = Duration.ofSeconds(5);

    private static final Duration FORGOTTEN = Duration.ofMinutes(1);

    /** Enough for a worker that is alive to end the workflow. */
    private static final Duration RUN_TIMEOUT = Duration.ofMinutes(1);

    private final Connection connection;
    /** Guarded by {@code this}, like the fields of its values. */
    private final Map<String, AskedWorker> workers = new LinkedHashMap<>();

    public WorkerWords(Connection connection) {
        this.connection = connection;
    }

    /**
     * Completes when there is new text of this call. Completes with an empty result if the worker does not run the
     * call, or does not answer. Never fails. Cancel it when the text is no longer needed.
     *
     * @param queue the task queue on which the worker answers
     */
    public CompletableFuture<Optional<WordsReport.News>> next(String queue, WordsRequest.Call call) {
        Waiting waiting = new Waiting(call);
        AskedWorker worker;
        synchronized (this) {
            workers.values().removeIf(AskedWorker::isForgotten);
            worker = workers.computeIfAbsent(queue, AskedWorker::new);
            if (worker.isLeftAlone()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            worker.add(waiting);
        }
        waiting.news.whenComplete((news, failure) -> remove(worker, waiting));
        return waiting.news;
    }

    private synchronized void remove(AskedWorker worker, Waiting waiting) {
        worker.waiting.remove(waiting);
    }

    /** A call that somebody waits for. */
    private static final class Waiting {
        private final WordsRequest.Call call;
        private final CompletableFuture<Optional<WordsReport.News>> news = new CompletableFuture<>();

        private Waiting(WordsRequest.Call call) {
            this.call = call;
        }
    }

    private final class AskedWorker {
        private final String queue;
        /** Those that have waited the longest come first. */
        private final Set<Waiting> waiting = new LinkedHashSet<>();

        /** Whether a query is under way or due. */
        private boolean asking;

        private boolean started;
        private int silentQueries;
        private long pauseMillis;
        private long answeredAt = System.nanoTime();
        private long leftAloneUntil = System.nanoTime();

        private AskedWorker(String queue) {
            this.queue = queue;
        }

        private boolean isLeftAlone() {
            return System.nanoTime() - leftAloneUntil < 0;
        }

        private boolean isForgotten() {
            return waiting.isEmpty() && !asking && System.nanoTime() - answeredAt > FORGOTTEN.toNanos();
        }

        private void add(Waiting call) {
            waiting.add(call);
            silentQueries = 0;
            if (!asking) {
                askWhenDue();
            }
        }

        private void askWhenDue() {
            asking = !waiting.isEmpty();
            if (asking) {
                long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - answeredAt);
                CompletableFuture.delayedExecutor(Math.max(0, pauseMillis - since), TimeUnit.MILLISECONDS)
                        .execute(this::ask);
            }
        }

        private void ask() {
            List<Waiting> calls;
            synchronized (WorkerWords.this) {
                calls = waiting.stream().limit(WordsRequest.MOST_CALLS).toList();
                if (calls.isEmpty()) {
                    asking = false;
                    return;
                }
            }
            long askedAt = System.nanoTime();
            query(new WordsRequest(calls.stream().map(each -> each.call).toList()))
                    .whenComplete((report, failure) -> {
                        if (failure == null) {
                            answered(calls, report, askedAt);
                        } else {
                            failed(failure);
                        }
                    });
        }

        private void answered(List<Waiting> calls, WordsReport report, long askedAt) {
            report.news().stream()
                    .filter(news -> news.call() >= 0 && news.call() < calls.size())
                    .forEach(news -> calls.get(news.call()).news.complete(Optional.of(news)));
            report.absent().stream()
                    .filter(call -> call >= 0 && call < calls.size())
                    .forEach(call -> calls.get(call).news.complete(Optional.empty()));
            synchronized (WorkerWords.this) {
                started = false;
                answeredAt = System.nanoTime();
                silentQueries = report.news().isEmpty() ? silentQueries + 1 : 0;
                long took = TimeUnit.NANOSECONDS.toMillis(answeredAt - askedAt);
                pauseMillis = silentQueries > SILENT_AFTER_QUERIES
                        ? MOST_PAUSE_MILLIS
                        : Math.max(LEAST_PAUSE_MILLIS, Math.min(MOST_PAUSE_MILLIS, took));
                askWhenDue();
            }
        }

        private void failed(Throwable failure) {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            if (cause instanceof StatusRuntimeException status && ServerAnswer.GONE.is(status) && !started) {
                // No client has asked this worker before, or the server has deleted its workflow.
                started = true;
                start().whenComplete((answer, problem) -> {
                    if (problem == null
                            || problem instanceof StatusRuntimeException other && ServerAnswer.TAKEN.is(other)) {
                        ask();
                    } else {
                        failed(problem);
                    }
                });
                return;
            }
            LOG.debug("{} does not answer", queue, cause);
            List<Waiting> calls;
            synchronized (WorkerWords.this) {
                calls = List.copyOf(waiting);
                asking = false;
                started = false;
                answeredAt = System.nanoTime();
                leftAloneUntil = answeredAt + LEFT_ALONE.toNanos();
            }
            calls.forEach(each -> each.news.complete(Optional.empty()));
        }

        private CompletableFuture<WordsReport> query(WordsRequest request) {
            return PendingAnswer.of(
                            stub().queryWorkflow(QueryWorkflowRequest.newBuilder()
                                    .setNamespace(connection.namespace())
                                    .setExecution(WorkflowExecution.newBuilder().setWorkflowId(queue))
                                    .setQuery(WorkflowQuery.newBuilder()
                                            .setQueryType(WireNames.WORDS_QUERY)
                                            .setQueryArgs(
                                                    PLAIN.toPayloads(request).orElseThrow()))
                                    .build()),
                            QueryWorkflowResponse::getQueryResult)
                    .thenApply(
                            result -> PLAIN.fromPayloads(0, Optional.of(result), WordsReport.class, WordsReport.class));
        }

        private CompletableFuture<StartWorkflowExecutionResponse> start() {
            return PendingAnswer.of(
                    stub().startWorkflowExecution(StartWorkflowExecutionRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setWorkflowId(queue)
                            .setWorkflowType(WorkflowType.newBuilder().setName(WireNames.WORDS_TYPE))
                            .setTaskQueue(TaskQueue.newBuilder().setName(queue))
                            .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                            .setWorkflowRunTimeout(Durations.fromSeconds(RUN_TIMEOUT.toSeconds()))
                            .setIdentity(connection.client().getOptions().getIdentity())
                            .setRequestId(UUID.randomUUID().toString())
                            .build()),
                    answer -> answer);
        }

        private WorkflowServiceFutureStub stub() {
            return connection.stubs().futureStub().withDeadlineAfter(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }
}
