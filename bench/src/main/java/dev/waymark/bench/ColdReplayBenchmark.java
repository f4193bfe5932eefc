package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.worker.workflow.AgentWorkflowImpl;
import io.temporal.api.workflowservice.v1.ResetStickyTaskQueueRequest;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.WorkflowReplayer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.ToDoubleFunction;

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

    private final BenchServer server;
    private final Connection connection;
    private final BenchReport report;
    /** Iterations of each thread. The first thread is short, to measure the constant part of a replay. */
    private final int[] lengths;

    private final int repetitions;

    ColdReplayBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.connection = server.connection();
        this.report = report;
        this.lengths = quick ? new int[] {2, 10, 20, 40} : new int[] {2, 100, 200, 400};
        this.repetitions = quick ? 1 : 5;
    }

    void run() throws Exception {
        report.title("cold-replay: a killed worker's thread, taken over by a new JVM");
        List<List<Taken>> sides = List.of(runUpAndKill(MeasuredAgent.OURS), runUpAndKill(MeasuredAgent.BARE));
        for (int repetition = 0; repetition < repetitions; repetition++) {
            for (int length = 0; length < lengths.length; length++) {
                for (int turn = 0; turn < sides.size(); turn++) {
                    int side = (repetition + turn) % sides.size();
                    Taken taken = sides.get(side).get(length);
                    taken.millis.add(takeOver(side, taken.thread, lengths[length] + repetition));
                }
            }
        }
        report(figures(MeasuredAgent.OURS, sides), figures(MeasuredAgent.BARE, sides));
    }

    /** One side's thread of one length, and the milliseconds of each take-over so far. */
    private record Taken(WorkflowStub thread, List<Double> millis) {}

    /**
     * The times of one side for one length.
     *
     * @param millis of each take-over
     * @param cold their median
     * @param warm milliseconds of a replay in this JVM
     */
    private record Figures(List<Double> millis, double cold, double warm, long events) {
        String shown() {
            return BenchReport.text(
                    "**%.0f** (%s)",
                    cold,
                    String.join(
                            " ",
                            millis.stream()
                                    .map(each -> BenchReport.text("%.0f", each))
                                    .toList()));
        }
    }

    /** Starts one thread of each length, and kills their worker once all of them wait. */
    private List<Taken> runUpAndKill(int side) throws Exception {
        List<Taken> threads = new ArrayList<>();
        try (BenchWorkerProcess worker = BenchWorkerProcess.start(side, server.address())) {
            for (int length : lengths) {
                int ask = length - 1;
                int last = ask + repetitions - 1;
                String id = "cold-replay-" + ask + "-" + UUID.randomUUID();
                WorkflowStub thread = side == MeasuredAgent.OURS
                        ? MeasuredAgent.start(connection.client(), id, last, 1, ask)
                        : MeasuredAgent.startBare(connection.client(), id, last, 1, ask);
                threads.add(new Taken(thread, new ArrayList<>()));
            }
            for (Taken thread : threads) {
                server.awaitStandstill(thread.thread);
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
        try (BenchWorkerProcess worker = BenchWorkerProcess.start(side, server.address())) {
            // The worker's polls need time to reach the server.
            Thread.sleep(300);
            long start = BenchWorkerProcess.micros();
            if (side == MeasuredAgent.OURS) {
                thread.signal(SignalNames.ANSWER, "yes");
            } else {
                thread.signal("go");
            }
            double millis = (worker.awaitModelCall(iteration) - start) / 1e3;
            server.awaitStandstill(thread);
            return millis;
        }
    }

    private List<Figures> figures(int side, List<List<Taken>> sides) throws Exception {
        List<Figures> figures = new ArrayList<>();
        for (Taken taken : sides.get(side)) {
            WorkflowExecutionHistory history =
                    connection.client().fetchHistory(taken.thread.getExecution().getWorkflowId());
            Class<?> workflow = side == MeasuredAgent.OURS ? AgentWorkflowImpl.class : BareWorkflow.Run.class;
            figures.add(new Figures(
                    taken.millis,
                    Statistics.median(taken.millis.stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray()),
                    replay(history, workflow),
                    history.getEvents().size()));
        }
        return figures;
    }

    private void report(List<Figures> ours, List<Figures> bare) {
        report.head(
                "n",
                "events at the end",
                "ms from the answer to the next model call, ours (all)",
                "bare (all)",
                "ours / bare",
                "ms, warm `WorkflowReplayer`, ours",
                "bare",
                "ours / bare");
        int last = lengths.length - 1;
        for (int i = 0; i < lengths.length; i++) {
            Figures our = ours.get(i);
            Figures its = bare.get(i);
            double ratio = our.cold / its.cold;
            report.row(
                    lengths[i],
                    our.events,
                    our.shown(),
                    its.shown(),
                    i == last ? report.within(ratio, MOST_TIME, "%.2f") : BenchReport.text("%.2f", ratio),
                    BenchReport.text("%.1f", our.warm),
                    BenchReport.text("%.1f", its.warm),
                    BenchReport.text("%.2f", our.warm / its.warm));
        }
        report.line("");
        report.head(
                "(t(" + lengths[last] + ") − t(2)) / (t(" + lengths[last - 1] + ") − t(2)): linear is 2, quadratic 4",
                "ours",
                "bare");
        report.row(
                "cold",
                report.within(growth(ours, Figures::cold), MOST_GROWTH, "%.2f"),
                BenchReport.text("%.2f", growth(bare, Figures::cold)));
        report.row(
                "warm `WorkflowReplayer`",
                BenchReport.text("%.2f", growth(ours, Figures::warm)),
                BenchReport.text("%.2f", growth(bare, Figures::warm)));
    }

    private static double growth(List<Figures> lengths, ToDoubleFunction<Figures> time) {
        double first = time.applyAsDouble(lengths.get(0));
        int last = lengths.size() - 1;
        return (time.applyAsDouble(lengths.get(last)) - first) / (time.applyAsDouble(lengths.get(last - 1)) - first);
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
