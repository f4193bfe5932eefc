package dev.waymark.bench;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.TurnHandle;
import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import io.temporal.activity.Activity;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowStub;
import io.temporal.worker.WorkerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Measures many callers at once. Each caller starts a workflow and waits for its outcome. The benchmark compares three
 * ways: {@link TurnHandle#await} and Temporal's {@code getResult} for the agent's workflow, and {@code getResult} for
 * the bare workflow. Another scenario checks with more callers that each of them gets its outcome: a busy server must
 * not make the client report that no worker runs.
 */
final class CrowdBenchmark {
    private static final double LEAST_THROUGHPUT = 1.2;
    private static final double MOST_FOR_WAITING = 1.1;
    private static final double MOST_FOR_SLOW_STEP = 1.25;

    private final BenchServer server;
    private final BenchReport report;
    private final int callers;
    private final int iterations;
    private final int rounds;
    private final int crowd;

    private volatile StepTimes steps = new StepTimes();

    CrowdBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.report = report;
        this.callers = quick ? 20 : 200;
        this.iterations = quick ? 2 : 10;
        this.rounds = quick ? 1 : 3;
        this.crowd = quick ? 40 : 2_000;
    }

    /** Starts a workflow and waits for its outcome. Returns whether the outcome is the expected one. */
    @FunctionalInterface
    private interface Side {
        boolean call(String id);
    }

    void run() throws Exception {
        report.title("crowd: " + callers + " callers at once, " + iterations + " iterations each");
        WorkflowClient temporal = server.connection().client();
        WorkerFactory bare = MeasuredAgent.bareWorker(temporal, this::mark);
        try (AgentWorker ours = MeasuredAgent.worker(temporal, this::mark);
                Connection callersOwn = Connection.to(server.address());
                AgentClient client = AgentClient.connect(server.address())) {
            ours.start();
            bare.start();
            List<Side> sides = List.of(
                    id -> waitsForBare(callersOwn.client(), id),
                    id -> waitsForWorkflow(callersOwn.client(), id),
                    id -> waitsWithClient(callersOwn.client(), client, id));
            measure(sides);
        } finally {
            bare.shutdownNow();
            bare.awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    void callers() throws Exception {
        report.title("callers: " + crowd + " at once, one iteration each");
        try (AgentWorker ours = MeasuredAgent.worker(server.connection().client(), this::mark);
                AgentClient client = AgentClient.connect(server.address())) {
            ours.start();
            long begin = System.nanoTime();
            long lost = crowd
                    - finished(
                            crowd, id -> client.run(MeasuredAgent.prompt(1)).await() instanceof AgentResult.Complete);
            report.line("Without an outcome: " + report.within(lost, 0, "%.0f") + ", after "
                    + BenchReport.text("%.0f", (System.nanoTime() - begin) / 1e9) + " s.");
        }
    }

    /** Collects the times from one model call of a thread to its next. */
    private static final class StepTimes {
        private final Map<String, Long> lastCalls = new ConcurrentHashMap<>();
        private final Queue<Double> millis = new ConcurrentLinkedQueue<>();

        void mark(String thread) {
            long now = System.nanoTime();
            Long before = lastCalls.put(thread, now);
            if (before != null) {
                millis.add((now - before) / 1e6);
            }
        }

        double[] all() {
            return millis.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }

    private void mark(int side, int iteration) {
        steps.mark(Activity.getExecutionContext().getInfo().getWorkflowId());
    }

    private void measure(List<Side> sides) throws Exception {
        double[][] seconds = new double[sides.size()][rounds];
        double[][] slowSteps = new double[sides.size()][rounds];
        for (Side side : sides) {
            finished(callers / 4, side);
        }
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < sides.size(); turn++) {
                int side = (round + turn) % sides.size(); // The database grows, so no side may always be the last.
                steps = new StepTimes();
                long begin = System.nanoTime();
                long finished = finished(callers, sides.get(side));
                seconds[side][round] = (System.nanoTime() - begin) / 1e9;
                slowSteps[side][round] = Statistics.percentile(99, steps.all());
                if (finished != callers) {
                    throw new IllegalStateException((callers - finished) + " callers have no outcome");
                }
            }
        }
        double bare = Statistics.median(seconds[0]);
        double workflow = Statistics.median(seconds[1]);
        double client = Statistics.median(seconds[2]);
        double slowBare = Statistics.median(slowSteps[0]);
        double slowWorkflow = Statistics.median(slowSteps[1]);
        double slowClient = Statistics.median(slowSteps[2]);
        report.head(
                "callers wait with",
                "s until all have their outcome",
                "throughput, of the bare workflow's",
                "ms of a step, 99th percentile",
                "of the bare workflow's");
        report.row(
                "`getResult`, for the bare workflow",
                BenchReport.text("%.1f", bare),
                "",
                BenchReport.text("%.0f", slowBare),
                "");
        report.row(
                "`getResult`, for the agent's workflow",
                BenchReport.text("%.1f", workflow),
                BenchReport.text("%.2f", bare / workflow),
                BenchReport.text("%.0f", slowWorkflow),
                BenchReport.text("%.2f", slowWorkflow / slowBare));
        report.row(
                "`TurnHandle.await`",
                BenchReport.text("%.1f", client),
                report.atLeast(bare / client, LEAST_THROUGHPUT, "%.2f"),
                BenchReport.text("%.0f", slowClient),
                report.within(slowClient / slowBare, MOST_FOR_SLOW_STEP, "%.2f"));
        report.line("");
        report.line("Time with the client, over that with `getResult` for the same workflow: "
                + report.within(client / workflow, MOST_FOR_WAITING, "%.2f") + ".");
    }

    private boolean waitsForBare(WorkflowClient temporal, String id) {
        MeasuredAgent.startBare(temporal, id, iterations, 1, 0).getResult(Void.class);
        return true;
    }

    private boolean waitsForWorkflow(WorkflowClient temporal, String id) {
        WorkflowStub stub = MeasuredAgent.start(temporal, id, iterations, 1, 0);
        stub.getResult(Object.class);
        return true;
    }

    private boolean waitsWithClient(WorkflowClient temporal, AgentClient client, String id) {
        MeasuredAgent.start(temporal, id, iterations, 1, 0);
        return client.turn(id).await() instanceof AgentResult.Complete;
    }

    /** Runs this many callers at once, and returns how many of them succeed. */
    private static long finished(int callers, Side side) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(callers);
        try {
            List<Future<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                calls.add(pool.submit(() -> side.call("crowd-" + UUID.randomUUID())));
            }
            long finished = 0;
            for (Future<Boolean> call : calls) {
                finished += succeeds(call) ? 1 : 0;
            }
            return finished;
        } finally {
            pool.shutdownNow();
        }
    }

    private static boolean succeeds(Future<Boolean> call) throws InterruptedException {
        try {
            return call.get();
        } catch (ExecutionException e) {
            System.err.println("a caller failed: " + e.getCause());
            return false;
        }
    }
}
