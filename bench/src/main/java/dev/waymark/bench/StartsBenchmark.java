package dev.waymark.bench;

import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.AgentWorker;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Measures how long a user waits for a command: process, JVM, connection and answer. */
final class StartsBenchmark {
    private static final double MOST_FOR_VERSION = 0.6;
    private static final double MOST_WITH_SERVER = 1.5;
    private static final int ITERATIONS = 50;
    private static final int WAITING_THREADS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int repetitions;

    StartsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.repetitions = quick ? 3 : 7;
    }

    void run() throws Exception {
        report.title("starts: wall time of a command");
        String thread = "starts-" + UUID.randomUUID();
        try (AgentWorker worker = MeasuredAgent.worker(server.connection().client(), (side, iteration) -> {})) {
            worker.start();
            for (int i = 0; i < WAITING_THREADS; i++) {
                server.awaitStandstill(start(i == 0 ? thread : thread + "-" + i));
            }
        }
        awaitArchive();
        report.head("command", "s, median of " + repetitions);
        measure(MOST_FOR_VERSION, "--version");
        measure(MOST_WITH_SERVER, "pending");
        measure(MOST_WITH_SERVER, "checkpoint", thread);
    }

    private WorkflowStub start(String thread) {
        return MeasuredAgent.start(server.connection().client(), thread, ITERATIONS, 1, ITERATIONS - 1);
    }

    /**
     * Runs a command, and waits for the archive of classes that the first command after a build writes. The archive
     * makes later commands fast.
     */
    private void awaitArchive() throws IOException, InterruptedException {
        Path target = waymark.root().resolve("starter/target");
        Path jar = target.resolve("waymark.jar");
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        call("--version");
        while (System.nanoTime() < deadline) {
            try (Stream<Path> files = Files.list(target)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".jsa")).toList()) {
                    if (Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(jar)) > 0) {
                        return;
                    }
                }
            }
            Thread.sleep(200);
        }
        report.line("No class archive was written: these starts are slow.");
    }

    private void measure(double most, String... arguments) throws IOException, InterruptedException {
        call(arguments);
        double[] seconds = new double[repetitions];
        for (int i = 0; i < repetitions; i++) {
            long start = System.nanoTime();
            call(arguments);
            seconds[i] = (System.nanoTime() - start) / 1e9;
        }
        String shown = arguments.length > 1 ? arguments[0] + " THREAD" : arguments[0];
        report.row("`./waymark " + shown + "`", report.within(Statistics.median(seconds), most, "%.2f"));
    }

    private void call(String... arguments) throws IOException, InterruptedException {
        ChildProcess.Ended ended = waymark.command(arguments).run(PATIENCE);
        if (ended.exitCode() != 0) {
            throw new IllegalStateException(List.of(arguments) + " failed: " + ended);
        }
    }
}
