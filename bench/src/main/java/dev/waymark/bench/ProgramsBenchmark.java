package dev.waymark.bench;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import java.io.IOException;
import java.nio.file.Path;
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
        double[] fenced = new double[repetitions];
        double[] bare = new double[repetitions];
        for (int i = -repetitions / 10; i < repetitions; i++) {
            double with = milliseconds(() -> fenced(args));
            double without = milliseconds(ProgramsBenchmark::bare);
            if (i >= 0) {
                fenced[i] = with;
                bare[i] = without;
            }
        }
        double with = Statistics.median(fenced);
        double without = Statistics.median(bare);
        report.row(
                bytes,
                BenchReport.text("%.1f", with),
                BenchReport.text("%.1f", without),
                BenchReport.text("%.1f", with - without));
    }

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
