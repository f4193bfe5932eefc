package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Projector;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import io.temporal.api.history.v1.History;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Measures the time to derive every version of a thread from its history, and the memory that all versions occupy
 * together.
 */
final class ProjectionBenchmark {
    private static final double MOST_SECONDS = 0.3;
    private static final double MOST_GROWTH = 2.3;
    /**
     * The number of events of an iteration with one tool call. The thread runs a little longer than the longest
     * measured history.
     */
    private static final int EVENTS_PER_ITERATION = 12;

    private final Connection connection;
    private final BenchReport report;
    private final int[] lengths;
    private final int warmUps;
    private final int repetitions;

    ProjectionBenchmark(Connection connection, BenchReport report, boolean quick) {
        this.connection = connection;
        this.report = report;
        this.lengths = quick ? new int[] {100, 200, 500, 1_000} : new int[] {1_000, 2_000, 5_000, 10_000};
        this.warmUps = quick ? 2 : 30;
        this.repetitions = quick ? 3 : 15;
    }

    void run() throws Exception {
        report.title("projection: every version of a thread, from its history");
        int longest = lengths[lengths.length - 1];
        String thread = "projection-" + UUID.randomUUID();
        try (AgentWorker worker = MeasuredAgent.worker(connection.client(), (side, iteration) -> {})) {
            worker.start();
            MeasuredAgent.startUnfused(connection.client(), thread, longest / EVENTS_PER_ITERATION + 2, 1)
                    .getResult(RunOutcome.class);
        }
        History whole = connection.client().fetchHistory(thread).getHistory();
        report.head(
                "events",
                "versions",
                "ms, projected",
                "ms, read from the server and projected",
                "KiB held",
                "KiB of events");
        List<Figures> all = new ArrayList<>();
        for (int length : lengths) {
            byte[] stored = History.newBuilder()
                    .addAllEvents(whole.getEventsList().subList(0, length))
                    .build()
                    .toByteArray();
            Figures figures = new Figures(length, millis(History.parseFrom(stored)), retained(stored) / 1024.0);
            all.add(figures);
            report.row(
                    length,
                    project(History.parseFrom(stored)).versions().size(),
                    BenchReport.text("%.1f", figures.millis),
                    length == longest ? BenchReport.text("%.0f", fromServer(thread)) : "",
                    BenchReport.text("%.0f", figures.kibibytes),
                    BenchReport.text("%.0f", stored.length / 1024.0));
        }
        Figures last = all.get(all.size() - 1);
        Figures half = all.get(all.size() - 2);
        report.line("");
        report.head("figure", "value");
        report.row(
                "s to project " + half.events + " events, warm",
                report.within(half.millis / 1e3, MOST_SECONDS, "%.3f"));
        report.row(
                "memory, " + last.events + " events / " + half.events,
                report.within(last.kibibytes / half.kibibytes, MOST_GROWTH, "%.2f"));
    }

    /** The time to project a history of one length, and the memory that its versions occupy. */
    private record Figures(int events, double millis, double kibibytes) {}

    private double millis(History history) {
        double[] times = new double[repetitions];
        for (int i = -warmUps; i < repetitions; i++) {
            long start = System.nanoTime();
            int versions = project(history).versions().size();
            double time = (System.nanoTime() - start) / 1e6;
            if (versions == 0) {
                throw new IllegalStateException("no versions");
            }
            times[Math.max(i, 0)] = time;
        }
        return Statistics.median(times);
    }

    private double fromServer(String thread) {
        HistoryReader histories = new HistoryReader(connection.client());
        double[] times = new double[5];
        for (int i = 0; i < times.length; i++) {
            long start = System.nanoTime();
            histories.read(thread).orElseThrow().versions();
            times[i] = (System.nanoTime() - start) / 1e6;
        }
        return Statistics.median(times);
    }

    private static Timeline project(History history) {
        List<Moment> moments = new ArrayList<>();
        Projector projector = new Projector("run", moments::add);
        history.getEventsList().forEach(projector::accept);
        return new Timeline(
                "thread",
                "run",
                moments,
                projector.expectedState().orElseThrow(),
                projector.agent(),
                projector.ending(),
                projector.lastEventId(),
                false);
    }

    /**
     * Returns the bytes that a timeline keeps reachable. At the second measurement, only the timeline can still
     * reference the parsed events, so the result includes events that it retains.
     */
    private static long retained(byte[] stored) throws IOException {
        double[] bytes = new double[3];
        for (int i = 0; i < bytes.length; i++) {
            long before = used();
            Timeline timeline = project(History.parseFrom(stored));
            bytes[i] = used() - before;
            // This use keeps the timeline reachable until here.
            timeline.thread().length();
        }
        return (long) Statistics.median(bytes);
    }

    private static long used() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            memory.gc();
            used = Math.min(used, memory.getHeapMemoryUsage().getUsed());
        }
        return used;
    }
}
