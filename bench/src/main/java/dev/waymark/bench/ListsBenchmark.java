package dev.waymark.bench;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.worker.AgentWorker;
import io.temporal.api.workflowservice.v1.CountWorkflowExecutionsRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Measures the time to read one page of each list while many threads wait for people, and the heap that these threads
 * need. Then answers some of the threads, and checks that each of them completes.
 */
final class ListsBenchmark {
    private static final double MOST_SECONDS = 1.5;
    private static final int STARTING = 32;
    private static final int PAGE = 100;
    private static final int PATIENCE_MINUTES = 30;

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int threads;
    private final int answers;
    private final int repetitions;

    ListsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.threads = quick ? 100 : 10_000;
        this.answers = quick ? 5 : 500;
        this.repetitions = quick ? 3 : 7;
    }

    void run() throws Exception {
        report.title("lists: " + threads + " threads that wait for people, on one worker");
        try (AgentWorker worker = MeasuredAgent.worker(server.connection().client(), (side, iteration) -> {});
                AgentClient client = AgentClient.connect(server.address())) {
            worker.start();
            command("pending"); // The first call after a build writes the archive of classes in the background.
            report.head("threads that wait", "MB of heap in use");
            for (int part = 1; part <= 5; part++) {
                int until = threads * part / 5;
                start(threads * (part - 1) / 5, until);
                report.row(until, BenchReport.text("%.0f", usedMegabytes()));
            }
            report.line("");
            report.head("one page of " + PAGE, "s, median of " + repetitions);
            report.row("`client.lists().pending`", median(() -> page(client)));
            report.row(
                    "`./waymark pending --limit " + PAGE + "`",
                    report.within(seconds(() -> command("pending")), MOST_SECONDS, "%.2f"));
            report.row("`./waymark sessions --limit " + PAGE + "`", median(() -> command("sessions")));
            report.line("");
            long begin = System.nanoTime();
            long complete = answer(client);
            report.line("Of " + answers + " answers to threads drawn at random, not complete: "
                    + report.within(answers - complete, 0, "%.0f") + ", after "
                    + BenchReport.text("%.0f", (System.nanoTime() - begin) / 1e9) + " s; heap in use "
                    + BenchReport.text("%.0f", usedMegabytes()) + " MB.");
        }
    }

    private void start(int from, int until) throws Exception {
        List<Callable<Boolean>> starts = new ArrayList<>();
        for (int i = from; i < until; i++) {
            String thread = "lists-" + i;
            starts.add(() -> MeasuredAgent.start(server.connection().client(), thread, 1, 1, 1) != null);
        }
        successes(starts);
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        while (waiting() < until) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(waiting() + " threads wait, of " + until);
            }
            Thread.sleep(200);
        }
    }

    private long waiting() {
        return server.connection()
                .stubs()
                .blockingStub()
                .countWorkflowExecutions(CountWorkflowExecutionsRequest.newBuilder()
                        .setNamespace(server.connection().namespace())
                        .setQuery("WaymarkWaitingFor IS NOT NULL")
                        .build())
                .getCount();
    }

    private long answer(AgentClient client) throws Exception {
        List<Integer> drawn = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            drawn.add(i);
        }
        Collections.shuffle(drawn, new Random(1));
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (int number : drawn.subList(0, answers)) {
            calls.add(() -> client.answer("lists-" + number, "Yes").await() instanceof AgentResult.Complete);
        }
        return successes(calls);
    }

    private static long successes(List<Callable<Boolean>> calls) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(STARTING);
        try {
            long successes = 0;
            for (Future<Boolean> call : pool.invokeAll(calls)) {
                successes += call.get() ? 1 : 0;
            }
            return successes;
        } finally {
            pool.shutdownNow();
        }
    }

    private static double usedMegabytes() {
        System.gc();
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / 1e6;
    }

    private String median(Callable<Boolean> work) throws Exception {
        return BenchReport.text("%.2f", seconds(work));
    }

    private double seconds(Callable<Boolean> work) throws Exception {
        work.call();
        double[] seconds = new double[repetitions];
        for (int i = 0; i < repetitions; i++) {
            long begin = System.nanoTime();
            if (!work.call()) {
                throw new IllegalStateException("the page is not full");
            }
            seconds[i] = (System.nanoTime() - begin) / 1e9;
        }
        return Statistics.median(seconds);
    }

    private static boolean page(AgentClient client) {
        return client.lists()
                        .pending(PendingPageRequest.first(PAGE), Progress.NONE)
                        .items()
                        .size()
                == PAGE;
    }

    private boolean command(String name) throws IOException, InterruptedException {
        return waymark.command(name, "--limit", Integer.toString(PAGE))
                        .run(Duration.ofMinutes(PATIENCE_MINUTES))
                        .exitCode()
                == 0;
    }
}
