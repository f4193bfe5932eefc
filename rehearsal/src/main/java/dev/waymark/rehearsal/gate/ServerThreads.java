package dev.waymark.rehearsal.gate;

import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.query.v1.WorkflowQuery;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.QueryWorkflowRequest;
import io.temporal.client.WorkflowClient;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Threads of a server: the open ones, the recently started ones, or the ones with given ids. */
public final class ServerThreads implements ThreadSource {
    private static final Duration WORKER_WAIT = Duration.ofSeconds(5);

    private final WorkflowClient client;
    private final ThreadHistoryReader histories;
    private final Supplier<List<String>> names;
    private boolean workersAnswer = true;
    private @Nullable PinnedThreads pinned;

    private ServerThreads(WorkflowClient client, ThreadHistoryReader histories, Supplier<List<String>> names) {
        this.client = client;
        this.histories = histories;
        this.names = names;
    }

    /**
     * The open threads.
     *
     * @param since includes closed threads that started after this time
     * @param filter an additional condition for the visibility query that finds the threads
     */
    public static ServerThreads of(WorkflowClient client, Optional<Instant> since, Optional<String> filter) {
        ThreadHistoryReader histories = new ThreadHistoryReader(client);
        return new ServerThreads(client, histories, () -> histories.threads(since, filter));
    }

    public static ServerThreads named(WorkflowClient client, List<String> ids) {
        return new ServerThreads(client, new ThreadHistoryReader(client), () -> ids);
    }

    @Override
    public List<String> names() {
        return names.get();
    }

    @Override
    public Optional<ThreadHistory> read(String name) {
        return histories.read(name);
    }

    /** All pinned threads of the server, also those that are not checked, as the server lists them at the first call. */
    @Override
    public PinnedThreads pinned() {
        PinnedThreads known = pinned;
        if (known == null) {
            known = PinnedThreads.of(client);
            pinned = known;
        }
        return known;
    }

    /**
     * Whether workers have answered queries so far. After a query that no worker answers, workflows are no longer
     * queried.
     */
    public boolean workersAnswer() {
        return workersAnswer;
    }

    @Override
    public Optional<HistoryAudit.Live> live(String name) {
        if (!workersAnswer) {
            return Optional.empty();
        }
        WorkflowExecution thread =
                WorkflowExecution.newBuilder().setWorkflowId(name).build();
        var service = client.getWorkflowServiceStubs().blockingStub();
        String namespace = client.getOptions().getNamespace();
        try {
            WorkflowExecution run = service.describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                            .setNamespace(namespace)
                            .setExecution(thread)
                            .build())
                    .getWorkflowExecutionInfo()
                    .getExecution();
            var answer = service.withDeadlineAfter(WORKER_WAIT.toMillis(), TimeUnit.MILLISECONDS)
                    .queryWorkflow(QueryWorkflowRequest.newBuilder()
                            .setNamespace(namespace)
                            .setExecution(run)
                            .setQuery(WorkflowQuery.newBuilder().setQueryType(WireNames.STATE_QUERY))
                            .build());
            StateReport report = PayloadJson.answer(client, name, answer.getQueryResult(), StateReport.class);
            return Optional.of(new HistoryAudit.Live(run.getRunId(), report));
        } catch (StatusRuntimeException e) {
            ServerAnswer answer = ServerAnswer.of(e);
            workersAnswer = answer != ServerAnswer.LATE && answer != ServerAnswer.NOT_READY;
            return Optional.empty();
        }
    }
}
