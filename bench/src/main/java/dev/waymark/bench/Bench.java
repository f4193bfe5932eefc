package dev.waymark.bench;

import dev.waymark.bench.thread.EncryptionBenchmark;
import dev.waymark.bench.thread.LongThreadBenchmark;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Runs the scenarios one after the other, each with a server of its own. Started by {@code bench/run}. */
public final class Bench {
    private static final List<String> SCENARIOS = List.of(
            "conversation",
            "cold-replay",
            "takeover",
            "projection",
            "starts",
            "tools",
            "encryption",
            "words",
            "cache",
            "find-tools",
            "streams",
            "streams-killed",
            "unread-streams",
            "crowd",
            "callers",
            "waits",
            "lists",
            "limits",
            "long");
    private static final String QUICK = "--quick";

    private static final int DONE = 0;
    private static final int MISSED = 1;
    private static final int USAGE = 2;
    private static final int BROKEN = 3;

    private Bench() {}

    /** @param arguments the root directory of the checkout, then optionally {@code --quick} and the scenarios to run */
    public static void main(String[] arguments) {
        List<String> words = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
        boolean quick = words.remove(QUICK);
        Set<String> scenarios = new LinkedHashSet<>(words.isEmpty() ? SCENARIOS : words);
        if (!SCENARIOS.containsAll(scenarios)) {
            System.err.println(
                    "usage: bench/run [" + QUICK + "] [SCENARIO…]    scenarios: " + String.join(" ", SCENARIOS));
            System.exit(USAGE);
        }
        BenchReport report = new BenchReport(System.out, !quick);
        try {
            report.line("# Benchmarks");
            for (String scenario : scenarios) {
                run(scenario, report, Path.of(arguments[0]), quick);
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(BROKEN);
        }
        report.line("");
        report.line(quick ? "Quick: the figures mean nothing." : report.missed() + " bounds missed.");
        System.exit(report.missed() == 0 ? DONE : MISSED);
    }

    private static void run(String scenario, BenchReport report, Path root, boolean quick) throws Exception {
        double load = load();
        try (BenchServer server = BenchServer.open("bench")) {
            switch (scenario) {
                case "conversation" -> new ConversationsBenchmark(server.connection(), report, quick).run();
                case "cold-replay" -> new ColdReplayBenchmark(server, report, quick).run();
                case "takeover" -> new TakeoverBenchmark(server, report, quick).run();
                case "projection" -> new ProjectionBenchmark(server.connection(), report, quick).run();
                case "tools" -> new ToolCostsBenchmark(server.connection(), report, quick).run();
                case "starts" -> new StartsBenchmark(server, report, root, quick).run();
                case "encryption" -> new EncryptionBenchmark(server, report, root, quick).run();
                case "words" -> new LiveWordsBenchmark(server, report, root, quick).run();
                case "find-tools" -> new FindToolsBenchmark(report).run();
                case "cache" -> new CacheBenchmark(server, report).run();
                case "streams" -> {
                    new StreamWordsBenchmark(server, report, root, quick).run();
                    new StreamDecisionsBenchmark(server, report, root, quick, false).run();
                }
                case "streams-killed" -> new StreamDecisionsBenchmark(server, report, root, quick, true).run();
                case "unread-streams" -> new UnreadStreamsBenchmark(server, report, root, quick).run();
                case "crowd" -> new CrowdBenchmark(server, report, quick).run();
                case "callers" -> new CrowdBenchmark(server, report, quick).callers();
                case "waits" -> new WaitsBenchmark(server, report, quick).run();
                case "lists" -> new ListsBenchmark(server, report, root, quick).run();
                case "limits" -> new LimitsBenchmark(server, report, root, quick).run();
                case "long" -> new LongThreadBenchmark(server, report, quick).run();
                default -> throw new IllegalArgumentException(scenario);
            }
            report.line("");
            report.line(conditions(server, load));
        }
    }

    private static String conditions(BenchServer server, double loadBefore) throws IOException {
        return BenchReport.text(
                "%s. %s, %d cores, %s %s, load %.1f before and %.1f after. JDK %s. Temporal server %s, SQLite in a file, flags: %s.",
                LocalDate.now(ZoneOffset.UTC),
                processor(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                loadBefore,
                load(),
                System.getProperty("java.vm.version"),
                server.serverVersion(),
                String.join(" ", server.serverFlags()));
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static String processor() throws IOException {
        Path file = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(file)) {
            return System.getProperty("os.arch");
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
