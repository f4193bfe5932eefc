package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.worker.workflow.AgentWorkflowImpl;
import io.temporal.api.workflowservice.v1.ResetStickyTaskQueueRequest;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.WorkflowReplayer;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Measures how fast a new worker takes over a long thread whose worker was killed. The worker gets SIGKILL while the
 * thread waits for a person at iteration n − 1. Then a worker starts in a new JVM, and the answer is sent. The
 * benchmark measures the time from the answer to the next model call: dispatch, reading the history, and replaying it
 * in a JVM that has not replayed before. Each further repetition does the same one iteration later. The bare workflow
 * waits for a signal at the same point.
 */
final class ColdReplayBenchmark {
    private static final double MOST_TIME = 2;
    /** The ratio is 2 for linear growth, and 4 for quadratic growth. */
    private static final double MOST_GROWTH = 2.5;

    private final BenchServer laboratory;
    private final Connection connection;
    private final BenchReport report;
    /** Iterations of each thread. The first is short, to measure the constant part of a replay. */
    private final int[] lengths;

    private final int repetitions;

    ColdReplayBenchmark(BenchServer laboratory, BenchReport report, boolean quick) {
        this.laboratory = laboratory;
        this.connection = laboratory.connection();
        this.report = report;
        this.lengths = quick ? new int[] {2, 10, 20, 40} : new int[] {2, 100, 200, 400};
        this.repetitions = quick ? 1 : 5;
    }

    void run() throws Exception {
        report.title("cold-replay: a killed worker's thread, taken over by a new JVM");
        WorkflowStub[][] threads = {runUpAndKill(MeasuredAgent.OURS), runUpAndKill(MeasuredAgent.BARE)};
        // [side][length][repetition]
        double[][][] millis = new double[2][lengths.length][repetitions];
        for (int repetition = 0; repetition < repetitions; repetition++) {
            for (int length = 0; length < lengths.length; length++) {
                for (int turn = 0; turn < 2; turn++) {
                    int side = (repetition + turn) % 2;
                    millis[side][length][repetition] =
                            takeOver(side, threads[side][length], lengths[length] + repetition);
                }
            }
        }
        report(millis, threads);
    }

    /** Starts one thread of each length, and kills their worker once all of them wait. */
    private WorkflowStub[] runUpAndKill(int side) throws Exception {
        WorkflowStub[] threads = new WorkflowStub[lengths.length];
        try (BenchWorkerProcess worker = BenchWorkerProcess.start(side, laboratory.address())) {
            for (int i = 0; i < lengths.length; i++) {
                int ask = lengths[i] - 1;
                int last = ask + repetitions - 1;
                String id = "cold-replay-" + ask + "-" + UUID.randomUUID();
                threads[i] = side == MeasuredAgent.OURS
                        ? MeasuredAgent.start(connection.client(), id, last, 1, ask)
                        : MeasuredAgent.startBare(connection.client(), id, last, 1, ask);
            }
            for (WorkflowStub thread : threads) {
                laboratory.awaitStandstill(thread);
            }
        }
        return threads;
    }

    private double takeOver(int side, WorkflowStub thread, int iteration) throws Exception {
        // Otherwise the server would offer the task to the killed worker first, for 5 s.
        connection
                .stubs()
                .blockingStub()
                .resetStickyTaskQueue(ResetStickyTaskQueueRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(thread.getExecution())
                        .build());
        try (BenchWorkerProcess worker = BenchWorkerProcess.start(side, laboratory.address())) {
            // The worker's polls need time to reach the server.
            Thread.sleep(300);
            long start = BenchWorkerProcess.micros();
            if (side == MeasuredAgent.OURS) {
                thread.signal(SignalNames.ANSWER, "yes");
            } else {
                thread.signal("go");
            }
            double millis = (worker.awaitModelCall(iteration) - start) / 1e3;
            laboratory.awaitStandstill(thread);
            return millis;
        }
    }

    private void report(double[][][] millis, WorkflowStub[][] threads) throws Exception {
        report.head(
                "n",
                "events at the end",
                "ms from the answer to the next model call, ours (all)",
                "bare (all)",
                "ours / bare",
                "ms, warm `WorkflowReplayer`, ours",
                "bare",
                "ours / bare");
        double[][] cold = new double[2][lengths.length];
        double[][] warm = new double[2][lengths.length];
        int last = lengths.length - 1;
        for (int i = 0; i < lengths.length; i++) {
            long events = 0;
            for (int side : new int[] {MeasuredAgent.BARE, MeasuredAgent.OURS}) {
                cold[side][i] = Statistics.median(millis[side][i]);
                WorkflowExecutionHistory history = connection
                        .client()
                        .fetchHistory(threads[side][i].getExecution().getWorkflowId());
                warm[side][i] =
                        replay(history, side == MeasuredAgent.OURS ? AgentWorkflowImpl.class : BareWorkflow.Run.class);
                events = history.getEvents().size();
            }
            double ratio = cold[MeasuredAgent.OURS][i] / cold[MeasuredAgent.BARE][i];
            report.row(
                    lengths[i],
                    events,
                    shown(cold[MeasuredAgent.OURS][i], millis[MeasuredAgent.OURS][i]),
                    shown(cold[MeasuredAgent.BARE][i], millis[MeasuredAgent.BARE][i]),
                    i == last ? report.within(ratio, MOST_TIME, "%.2f") : BenchReport.text("%.2f", ratio),
                    BenchReport.text("%.1f", warm[MeasuredAgent.OURS][i]),
                    BenchReport.text("%.1f", warm[MeasuredAgent.BARE][i]),
                    BenchReport.text("%.2f", warm[MeasuredAgent.OURS][i] / warm[MeasuredAgent.BARE][i]));
        }
        report.line("");
        report.head(
                "(t(" + lengths[last] + ") − t(2)) / (t(" + lengths[last - 1] + ") − t(2)): linear is 2, quadratic 4",
                "ours",
                "bare");
        report.row(
                "cold",
                report.within(growth(cold[MeasuredAgent.OURS]), MOST_GROWTH, "%.2f"),
                BenchReport.text("%.2f", growth(cold[MeasuredAgent.BARE])));
        report.row(
                "warm `WorkflowReplayer`",
                BenchReport.text("%.2f", growth(warm[MeasuredAgent.OURS])),
                BenchReport.text("%.2f", growth(warm[MeasuredAgent.BARE])));
    }

    private static double growth(double[] times) {
        int last = times.length - 1;
        return (times[last] - times[0]) / (times[last - 1] - times[0]);
    }

    private static String shown(double median, double[] all) {
        return BenchReport.text(
                "**%.0f** (%s)",
                median,
                String.join(
                        " ",
                        IntStream.range(0, all.length)
                                .mapToObj(i -> BenchReport.text("%.0f", all[i]))
                                .toList()));
    }

    private double replay(WorkflowExecutionHistory history, Class<?> workflow) throws Exception {
        int warmUps = 2 * repetitions;
        double[] times = new double[2 * repetitions + 1];
        for (int i = -warmUps; i < times.length; i++) {
            long start = System.nanoTime();
            WorkflowReplayer.replayWorkflowExecution(history, workflow);
            times[Math.max(i, 0)] = (System.nanoTime() - start) / 1e6;
        }
        return Statistics.median(times);
    }
}
