package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import io.temporal.client.WorkflowStub;
import io.temporal.worker.WorkerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;

/**
 * Measures the cost of a growing conversation, in bytes of history and time per iteration, compared with the bare
 * workflow.
 */
final class ConversationsBenchmark {
    private static final double MOST_BYTES = 1.3;
    private static final double MOST_GROWTH = 1.1;
    private static final double MOST_FUSED_EVENTS = 6.5;
    /** The history's size, divided by the text of all messages without JSON. */
    private static final double MOST_FUSED_BYTES = 1.3;

    /** What an iteration does, and its time limit as a multiple of the bare workflow's time. */
    private enum Step {
        ONE("1", 1, true, 0.6),
        FOUR("4", 4, true, 0.45),
        ONE_APART("1, in an activity of its own", 1, false, 1.25),
        FOUR_APART("4, in activities of their own", 4, false, 1.25);

        private final String words;
        private final int tools;
        private final boolean fused;
        private final double mostTime;

        Step(String words, int tools, boolean fused, double mostTime) {
            this.words = words;
            this.tools = tools;
            this.fused = fused;
            this.mostTime = mostTime;
        }
    }

    /** Iterations that one side runs before the other side takes its turn. */
    private static final int BLOCK = 10;

    private final Connection connection;
    private final BenchReport report;
    private final int iterations;
    private final int warmUp;
    private final int window;
    private final int repetitions;

    private volatile Interleaved turns = new Interleaved(1, 0);

    ConversationsBenchmark(Connection connection, BenchReport report, boolean quick) {
        this.connection = connection;
        this.report = report;
        this.iterations = quick ? 40 : 400;
        this.warmUp = quick ? 10 : 50;
        this.window = quick ? 10 : 50;
        this.repetitions = quick ? 1 : 3;
    }

    /** One conversation of each side, which ran in turns. */
    private record Pair(Size ours, Size bare, Interleaved turns) {}

    private record Size(long events, long historyBytes) {}

    void run() throws Exception {
        report.title("conversation: " + iterations + " iterations, texts of " + MeasuredAgent.TEXT_BYTES + " bytes");
        WorkerFactory bare = MeasuredAgent.bareWorker(connection.client(), this::mark);
        try (AgentWorker ours = MeasuredAgent.worker(connection.client(), this::mark)) {
            ours.start();
            bare.start();
            List<Object[]> bytes = new ArrayList<>();
            List<Object[]> times = new ArrayList<>();
            List<Object[]> growth = new ArrayList<>();
            for (Step step : Step.values()) {
                measure(step, bytes, times, growth);
            }
            report.head(
                    "tools a step",
                    "events per step, ours",
                    "bare",
                    "history bytes",
                    "message bytes",
                    "history / messages",
                    "history / bare text",
                    "bare workflow's history / messages");
            bytes.forEach(report::row);
            report.line("");
            report.head("tools a step", "ms per iteration, ours", "bare", "ours / bare");
            times.forEach(report::row);
            report.line("");
            report.head(
                    "tools a step",
                    "ms, iterations " + (warmUp + 1) + "–" + (warmUp + window),
                    "ms, last " + window,
                    "growth, ours",
                    "growth, bare",
                    "ours / bare");
            growth.forEach(report::row);
        } finally {
            bare.shutdownNow();
            bare.awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    private void mark(int side, int iteration) throws InterruptedException {
        turns.mark(side);
    }

    private void measure(Step step, List<Object[]> bytes, List<Object[]> times, List<Object[]> growth)
            throws Exception {
        converse("warm-up-" + UUID.randomUUID(), step, Math.min(iterations, 150));
        String thread = "";
        List<Pair> pairs = new ArrayList<>();
        for (int repetition = 0; repetition < repetitions; repetition++) {
            thread = "conversation-" + UUID.randomUUID();
            pairs.add(converse(thread, step, iterations));
        }

        Timeline timeline = histories().read(thread).orElseThrow();
        Pair last = pairs.get(pairs.size() - 1);
        double messages = timeline.now().transcript().bytes();
        double text = timeline.now().transcript().messages().stream()
                .mapToLong(ConversationsBenchmark::text)
                .sum();
        bytes.add(new Object[] {
            step.words,
            step.fused
                    ? report.within((double) last.ours.events / iterations, MOST_FUSED_EVENTS, "%.2f")
                    : BenchReport.text("%.2f", (double) last.ours.events / iterations),
            BenchReport.text("%.2f", (double) last.bare.events / iterations),
            last.ours.historyBytes,
            (long) messages,
            report.within(last.ours.historyBytes / messages, MOST_BYTES, "%.3f"),
            step.fused
                    ? report.within(last.ours.historyBytes / text, MOST_FUSED_BYTES, "%.3f")
                    : BenchReport.text("%.3f", last.ours.historyBytes / text),
            BenchReport.text("%.3f", last.bare.historyBytes / messages)
        });

        double ours = Statistics.median(laps(pairs, MeasuredAgent.OURS, warmUp, iterations));
        double bare = Statistics.median(laps(pairs, MeasuredAgent.BARE, warmUp, iterations));
        times.add(new Object[] {
            step.words,
            BenchReport.text("%.2f", ours),
            BenchReport.text("%.2f", bare),
            report.within(ours / bare, step.mostTime, "%.3f")
        });

        double oursFirst = Statistics.trimmedMean(laps(pairs, MeasuredAgent.OURS, warmUp, warmUp + window));
        double oursLast = Statistics.trimmedMean(laps(pairs, MeasuredAgent.OURS, iterations - window, iterations));
        double bareFirst = Statistics.trimmedMean(laps(pairs, MeasuredAgent.BARE, warmUp, warmUp + window));
        double bareLast = Statistics.trimmedMean(laps(pairs, MeasuredAgent.BARE, iterations - window, iterations));
        growth.add(new Object[] {
            step.words,
            BenchReport.text("%.2f / %.2f", oursFirst, bareFirst),
            BenchReport.text("%.2f / %.2f", oursLast, bareLast),
            BenchReport.text("%.3f", oursLast / oursFirst),
            BenchReport.text("%.3f", bareLast / bareFirst),
            report.within(
                    ratio(pairs, iterations - window, iterations) / ratio(pairs, warmUp, warmUp + window),
                    MOST_GROWTH,
                    "%.3f")
        });
    }

    /**
     * Returns the median ratio of our time to the bare workflow's time over the blocks of this window. Both sides run a
     * block directly one after the other, so a burst of other load spoils only the ratios of the blocks that it hits.
     */
    private static double ratio(List<Pair> pairs, int from, int to) {
        List<Double> ratios = new ArrayList<>();
        for (Pair pair : pairs) {
            for (int block = from; block < to; block += BLOCK) {
                double ours = DoubleStream.of(pair.turns.laps(MeasuredAgent.OURS, block, block + BLOCK))
                        .sum();
                double bare = DoubleStream.of(pair.turns.laps(MeasuredAgent.BARE, block, block + BLOCK))
                        .sum();
                ratios.add(ours / bare);
            }
        }
        return Statistics.median(
                ratios.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private Pair converse(String thread, Step step, int length) {
        Interleaved own = new Interleaved(BLOCK, length);
        turns = own;
        String bareId = thread + "-bare";
        WorkflowStub ours = step.fused
                ? MeasuredAgent.start(connection.client(), thread, length, step.tools, 0)
                : MeasuredAgent.startUnfused(connection.client(), thread, length, step.tools);
        WorkflowStub bare = MeasuredAgent.startBare(connection.client(), bareId, length, step.tools, 0);
        CompletableFuture<RunOutcome> outcome = CompletableFuture.supplyAsync(() -> {
            try {
                return ours.getResult(RunOutcome.class);
            } finally {
                own.done(MeasuredAgent.OURS);
            }
        });
        try {
            bare.getResult(Void.class);
        } finally {
            own.done(MeasuredAgent.BARE);
        }
        if (!outcome.join().status().equals("complete")) {
            throw new IllegalStateException("the conversation ended otherwise: " + outcome.join());
        }
        return new Pair(size(thread), size(bareId), own);
    }

    private double[] laps(List<Pair> pairs, int side, int from, int to) {
        return pairs.stream()
                .flatMapToDouble(pair -> DoubleStream.of(pair.turns.laps(side, from, to)))
                .toArray();
    }

    private Size size(String workflowId) {
        var info = histories().describe(workflowId).orElseThrow().getWorkflowExecutionInfo();
        return new Size(info.getHistoryLength(), info.getHistorySizeBytes());
    }

    private HistoryReader histories() {
        return new HistoryReader(connection.client());
    }

    private static long text(Message message) {
        return message.text().length()
                + message.toolResults().stream()
                        .map(Part.ToolResult::content)
                        .mapToLong(String::length)
                        .sum();
    }
}
