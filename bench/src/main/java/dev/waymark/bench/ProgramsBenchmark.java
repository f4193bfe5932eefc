package dev.waymark.bench;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Measures the cost of a fenced program, compared with starting it with {@link ProcessBuilder} and waiting for it. */
final class ProgramsBenchmark {
    private static final Path DIRECTORY = Path.of(".");

    private final CommandRunner commands = new CommandRunner(System.getenv());
    private final ToolSpec tool = ToolSpec.command("program", "true").build();
    private final BenchReport report;
    private final int repetitions;

    ProgramsBenchmark(BenchReport report, boolean quick) {
        this.report = report;
        this.repetitions = quick ? 20 : 200;
    }

    void run() throws IOException, InterruptedException {
        report.title("programs: `true`, behind a fence and without one");
        report.head("arguments, bytes", "ms, fenced", "ms, bare", "ms more");
        for (int bytes : List.of(10, 2_000, 200_000)) {
            measure(Json.of(Map.of("a", "x".repeat(bytes - 9))));
        }
    }

    private void measure(Json args) throws IOException, InterruptedException {
        int bytes = args.canonical().length();
        List<Pair> pairs = new ArrayList<>();
        for (int i = -repetitions / 10; i < repetitions; i++) {
            Pair pair = new Pair(milliseconds(() -> fenced(args)), milliseconds(ProgramsBenchmark::bare));
            if (i >= 0) {
                pairs.add(pair);
            }
        }
        double with = Statistics.median(pairs.stream().mapToDouble(Pair::fenced).toArray());
        double without =
                Statistics.median(pairs.stream().mapToDouble(Pair::bare).toArray());
        report.row(
                bytes,
                BenchReport.text("%.1f", with),
                BenchReport.text("%.1f", without),
                BenchReport.text("%.1f", with - without));
    }

    /** The times of the program behind a fence and right after that without one, in milliseconds. */
    private record Pair(double fenced, double bare) {}

    private void fenced(Json args) throws InterruptedException {
        CommandResult result = commands.run(
                tool,
                ((ToolImplementation.Command) tool.implementation()).program(),
                DIRECTORY,
                args,
                Map.of(),
                ProcessFence.in(tool.timeout()));
        if (!result.equals(new CommandResult.Exited(0, "", ""))) {
            throw new IllegalStateException(result.words());
        }
    }

    private static void bare() throws IOException, InterruptedException {
        new ProcessBuilder("true").start().waitFor();
    }

    private static double milliseconds(Work work) throws IOException, InterruptedException {
        long start = System.nanoTime();
        work.run();
        return (System.nanoTime() - start) / 1e6;
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }
}
