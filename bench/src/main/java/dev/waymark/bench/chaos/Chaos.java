package dev.waymark.bench.chaos;

import dev.waymark.bench.BenchServer;
import dev.waymark.testkit.crash.CrashPoint;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Disrupts random runs on a real server, and prints tables of the results. Started by {@code bench/chaos}. */
@Command(name = "bench/chaos", description = "Disrupts random runs at random points.", sortOptions = false)
public final class Chaos implements java.util.concurrent.Callable<Integer> {
    private static final int PROCESSES_AT_ONCE = 6;

    private static final int KEPT = 0;
    private static final int BROKEN = 1;

    @Option(names = "--runs", paramLabel = "N", description = "Number of runs. Default: ${DEFAULT-VALUE}")
    private int runs = 60;

    @Option(names = "--seed", paramLabel = "S", description = "The same seed makes the same runs. Default: another one")
    private long seed = System.nanoTime() & 0xffffff;

    @Option(names = "--only", paramLabel = "I", description = "Repeats run I of the seed, alone.")
    private Optional<Integer> only = Optional.empty();

    @Option(
            names = "--disruption",
            paramLabel = "DISRUPTION",
            description = "What happens to each run: ${COMPLETION-CANDIDATES}. Default: random")
    private Optional<Disruption> disruption = Optional.empty();

    @Option(
            names = "--scene",
            paramLabel = "SCENE",
            description = "The scene around the calls: ${COMPLETION-CANDIDATES}. Default: random")
    private Optional<Scene> scene = Optional.empty();

    @Spec
    private CommandSpec spec;

    @Option(names = "--help", usageHelp = true, description = "Prints this.")
    private boolean help;

    private Chaos() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Chaos())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (disruption.isPresent() && scene.isPresent() && !disruption.get().allows(scene.get())) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "there are no runs with " + name(disruption.get()) + " in " + name(scene.get()));
        }
        try (BenchServer server = BenchServer.open("chaos");
                ChaosStage stage = ChaosStage.open(server.address(), server.directory())) {
            List<Integer> numbers = only.map(List::of)
                    .orElseGet(() -> IntStream.range(0, runs).boxed().toList());
            List<String> problems = new ArrayList<>();
            Map<Integer, RunResult> results = play(stage, numbers, problems);
            if (!results.isEmpty()) {
                print(List.copyOf(results.values()));
            }
            stage.strays().forEach(stray -> problems.add("no thread knows of the call of " + stray));
            return complain(results, problems) ? BROKEN : KEPT;
        }
    }

    /** @param problems gets a line for each group of runs that could not be played */
    private Map<Integer, RunResult> play(ChaosStage stage, List<Integer> numbers, List<String> problems)
            throws InterruptedException {
        ExecutorService directors = Executors.newFixedThreadPool(PROCESSES_AT_ONCE);
        try {
            List<Map<Integer, ChaosRun>> groups = groups(numbers);
            List<Future<List<RunResult>>> played = new ArrayList<>();
            for (Map<Integer, ChaosRun> group : groups) {
                played.add(directors.submit(() -> stage.play(List.copyOf(group.values()))));
            }
            Map<Integer, RunResult> results = new TreeMap<>();
            for (int i = 0; i < groups.size(); i++) {
                try {
                    Iterator<RunResult> result = played.get(i).get().iterator();
                    groups.get(i).keySet().forEach(number -> results.put(number, result.next()));
                    System.err.print("\r" + results.size() + " of " + numbers.size());
                } catch (ExecutionException e) {
                    // The results of the other runs may be worth an hour.
                    e.printStackTrace();
                    problems.add("the runs " + groups.get(i).keySet() + " could not be played");
                }
            }
            System.err.println();
            return results;
        } finally {
            directors.shutdownNow();
        }
    }

    /**
     * Returns the runs by number, in groups whose runs share worker processes. Only runs with the same disruption can
     * share a process.
     */
    private List<Map<Integer, ChaosRun>> groups(List<Integer> numbers) {
        List<Map<Integer, ChaosRun>> groups = new ArrayList<>();
        Map<Disruption, Map<Integer, ChaosRun>> open = new EnumMap<>(Disruption.class);
        for (int number : numbers) {
            ChaosRun run = RunGenerator.run(seed, number, disruption, scene);
            Map<Integer, ChaosRun> group = open.get(run.disruption());
            if (group == null || group.size() == run.disruption().together()) {
                group = new LinkedHashMap<>();
                groups.add(group);
                open.put(run.disruption(), group);
            }
            group.put(number, run);
        }
        return groups;
    }

    private void print(List<RunResult> results) {
        line(
                "%s, seed %d, %d runs, of which %d with a second fault that fired too.",
                LocalDate.now(ZoneOffset.UTC),
                seed,
                results.size(),
                results.stream().filter(result -> result.fired() > 1).count());
        line("");
        table("disruption", Disruption.values(), result -> result.run().disruption(), results);
        line("");
        table("scene", Scene.values(), result -> result.run().scene(), results);
        line("");
        table(
                "point",
                CrashPoint.values(),
                result -> result.run().faults().get(0).point(),
                results);
        line("");
        table("tool", ToolVariant.values(), result -> result.run().kind(), results);
    }

    private static <T extends Enum<T>> void table(
            String head, T[] rows, Function<RunResult, T> row, List<RunResult> results) {
        line("| %s | runs | fired | calls | duplicated | lost | unknown | handed out again | median recovery |", head);
        line("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (T each : rows) {
            List<RunResult> these =
                    results.stream().filter(result -> row.apply(result) == each).toList();
            if (!these.isEmpty()) {
                row(words(each), these);
            }
        }
        row("all", results);
    }

    private static void row(String name, List<RunResult> results) {
        line(
                "| %s | %d | %d | %d | %d | %d | %d | %d | %.1f s |",
                name,
                results.size(),
                results.stream().filter(result -> result.fired() > 0).count(),
                results.stream().mapToInt(result -> result.effects().calls()).sum(),
                results.stream()
                        .mapToInt(result -> result.effects().duplicated())
                        .sum(),
                results.stream().mapToInt(result -> result.effects().lost()).sum(),
                results.stream().mapToInt(result -> result.effects().unknown()).sum(),
                results.stream()
                        .mapToInt(result -> result.effects().dispatchedAgain())
                        .sum(),
                median(results).toMillis() / 1000.0);
    }

    private static Duration median(List<RunResult> results) {
        List<Duration> sorted =
                results.stream().map(RunResult::recovery).sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    /**
     * Prints every problem, every violation and every fault that did not fire. Returns whether there were any.
     */
    private boolean complain(Map<Integer, RunResult> results, List<String> problems) {
        line("");
        problems.forEach(problem -> line("Broken: %s", problem));
        AtomicBoolean broken = new AtomicBoolean(!problems.isEmpty());
        results.forEach((number, result) -> {
            List<String> violations = new ArrayList<>(result.violations());
            if (result.fired() == 0) {
                violations.add("the fault did not fire");
            }
            if (!violations.isEmpty()) {
                broken.set(true);
                line("Broken: %s: %s", result.run(), String.join("; ", violations));
                line("    bench/chaos%s --seed %d --only %d", restrictions(), seed, number);
            }
        });
        line(broken.get() ? "Promises were broken." : "All promises were kept.");
        return broken.get();
    }

    private String restrictions() {
        return disruption.map(each -> " --disruption " + name(each)).orElse("")
                + scene.map(each -> " --scene " + name(each)).orElse("");
    }

    private static String words(Enum<?> constant) {
        return name(constant).replace('_', ' ');
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static void line(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
