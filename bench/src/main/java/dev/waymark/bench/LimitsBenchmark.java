package dev.waymark.bench;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures many workers that share the rate of a service, which more threads want to call than it allows. */
final class LimitsBenchmark {
    private static final int PER_SECOND = 10;
    /** A little less than the service allows: calls that the server sends evenly arrive unevenly. */
    private static final int PER_MINUTE = 588;

    private static final double MOST_REFUSED = 2;
    private static final double LEAST_USED = 95;
    private static final double MOST_WAIT = 3;
    /** Every thread has called about twice by then. */
    private static final double WARM_UP = 2;

    private static final String AGENT = "limited";

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int workers;
    private final int threads;
    private final int seconds;

    LimitsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.workers = quick ? 2 : 20;
        this.threads = quick ? 30 : 500;
        this.seconds = quick ? 15 : 300;
    }

    void run() throws Exception {
        report.title(BenchReport.text(
                "limits: %d worker processes, %d threads, %d requests a second, %d s",
                workers, threads, PER_SECOND, seconds));
        Path agents = Files.createDirectory(server.directory().resolve("limited-agents"));
        Files.writeString(
                agents.resolve(AGENT + ".yaml"), "model: openai:any\nmax_iterations: 1000\ntools: [{ use: todos }]\n");
        Path limits = Files.writeString(
                server.directory().resolve("limits.yaml"),
                "limits: { 'openai:any': { requests_per_minute: " + PER_MINUTE + " } }\n");
        List<ServeProcess> processes = new ArrayList<>();
        try (LimitedService service = LimitedService.start(PER_SECOND);
                AgentClient client = AgentClient.connect(server.address())) {
            for (int i = 0; i < workers; i++) {
                processes.add(ServeProcess.worker(waymark, agents, service.url(), "--limits", limits.toString()));
            }
            for (int i = 0; i < threads; i++) {
                client.run(Prompt.of(AGENT, "thread-" + i + "-"));
            }
            TimeUnit.MILLISECONDS.sleep((long) (WARM_UP * threads / PER_SECOND * 1_000));
            long from = System.nanoTime();
            TimeUnit.SECONDS.sleep(seconds);
            report(service.requests(), from, from + TimeUnit.SECONDS.toNanos(seconds));
        } finally {
            processes.forEach(ServeProcess::close);
        }
    }

    private void report(List<LimitedService.Request> requests, long from, long to) {
        List<LimitedService.Request> measured = requests.stream()
                .filter(each -> each.at() >= from && each.at() < to)
                .toList();
        long accepted =
                measured.stream().filter(LimitedService.Request::isAccepted).count();
        double[] waits = waits(requests, from, to);
        double median = Statistics.median(waits);
        double longest = Statistics.percentile(100, waits);
        report.head("figure", "value");
        report.row("requests", measured.size());
        report.row(
                "% refused",
                report.within(100.0 * (measured.size() - accepted) / measured.size(), MOST_REFUSED, "%.1f"));
        report.row(
                "% of the limit used",
                report.atLeast(100.0 * accepted / ((double) PER_SECOND * seconds), LEAST_USED, "%.1f"));
        report.row("s from a thread's call to its next, median", BenchReport.text("%.1f", median));
        report.row("longest / median", report.within(longest / median, MOST_WAIT, "%.2f"));
    }

    /** The seconds from each thread's accepted request to its next; a thread that still waits at the end counts. */
    private static double[] waits(List<LimitedService.Request> requests, long from, long to) {
        Map<Integer, Long> last = new HashMap<>();
        List<Double> waits = new ArrayList<>();
        for (LimitedService.Request each : requests) {
            if (each.isAccepted() && each.at() < to) {
                Long before = last.put(each.thread(), each.at());
                if (before != null && each.at() >= from) {
                    waits.add((each.at() - before) / 1e9);
                }
            }
        }
        double median = Statistics.median(
                waits.stream().mapToDouble(Double::doubleValue).toArray());
        last.values().stream()
                .map(at -> (to - at) / 1e9)
                .filter(open -> open > median)
                .forEach(waits::add);
        return waits.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
