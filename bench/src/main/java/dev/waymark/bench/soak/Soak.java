package dev.waymark.bench.soak;

import dev.waymark.bench.BenchServer;
import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.CuttableProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a mixed load with faults for some minutes, and prints a report. Started by {@code bench/soak}. */
@Command(
        name = "bench/soak",
        description = "Runs a mixed load while workers and the server are killed and connections are cut.",
        sortOptions = false)
public final class Soak implements Callable<Integer> {
    private static final int KILLED_WORKERS = 2;
    private static final Duration MOST_DRAINING = Duration.ofMinutes(5);
    private static final int REPORT_SECONDS = 10;

    private static final int KEPT = 0;
    private static final int BROKEN = 1;

    @Option(names = "--minutes", paramLabel = "N", description = "Duration of the load. Default: ${DEFAULT-VALUE}")
    private int minutes = 30;

    @Option(names = "--callers", paramLabel = "N", description = "Callers at a time. Default: ${DEFAULT-VALUE}")
    private int callers = 10;

    @Option(
            names = "--long-lived",
            paramLabel = "N",
            description = "Callers whose one thread stays open and grows. Default: ${DEFAULT-VALUE}")
    private int longLived = 2;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description =
                    "The same seed makes the same tasks and faults, at about the same times. Default: another one")
    private long seed = System.nanoTime() & 0xffffff;

    @Option(names = "--help", usageHelp = true, description = "Prints this.")
    private boolean help;

    private final Queue<SoakThread> threads = new ConcurrentLinkedQueue<>();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    private Soak() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Soak()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        try (BenchServer server = BenchServer.open("soak")) {
            server.keep(true);
            if (run(server)) {
                server.keep(false);
                return KEPT;
            }
            System.err.println("Database, server log, ledger and faults are in " + server.directory());
            return BROKEN;
        }
    }

    /** Runs the load and reports the results. Returns whether all promises were kept. */
    private boolean run(BenchServer server) throws Exception {
        Path directory = server.directory();
        Path survivorsHeap = directory.resolve("survivor.heap");
        Path ownHeap = directory.resolve("callers.heap");
        try (EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                SoakWorker survivor = SoakWorker.start(server.address(), ledger.port(), survivorsHeap);
                SoakWorker one = SoakWorker.start(server.address(), ledger.port(), directory.resolve("one.heap"));
                SoakWorker two = SoakWorker.start(server.address(), ledger.port(), directory.resolve("two.heap"));
                CuttableProxy callersProxy = new CuttableProxy(server.address())) {
            Instant begin = Instant.now();
            LiveHeap.sampleInto(ownHeap);
            Saboteur saboteur = new Saboteur(
                    seed,
                    server.server(),
                    List.of(one, two),
                    List.of(survivor.proxy(), one.proxy(), two.proxy(), callersProxy));
            SoakProgress progress =
                    new SoakProgress(begin, threads, violations, saboteur, ledger, survivorsHeap, ownHeap);
            load(callersProxy.address(), begin.plus(Duration.ofMinutes(minutes)), saboteur, progress);
            if (survivor.isDead()) {
                violations.add("the worker that is not killed has ended");
            }
            Files.write(
                    directory.resolve("faults"),
                    saboteur.outages().stream().map(Outage::toString).toList());
            return report(server.address(), begin, saboteur.outages(), ledger.effects(), survivorsHeap, ownHeap);
        }
    }

    /**
     * Runs the callers and the saboteur. Returns when every caller has the outcomes of everything that it sent, or has
     * given up.
     */
    private void load(String address, Instant end, Saboteur saboteur, SoakProgress progress) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        try (Connection connection = Connection.to(address)) {
            AgentClient client = AgentClient.on(connection, SoakAgents.TASK_QUEUE);
            SplittableRandom random = new SplittableRandom(seed);
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                SoakCaller caller = new SoakCaller(
                        client, "c" + i, random.split(), end, end.plus(MOST_DRAINING), threads, violations);
                boolean isLong = i < longLived;
                all.add(pool.submit(() -> {
                    if (isLong) {
                        caller.useLongLivedThread();
                    } else {
                        caller.useThreads();
                    }
                    return null;
                }));
            }
            all.add(pool.submit(() -> {
                saboteur.run(end);
                return null;
            }));
            while (!all.stream().allMatch(Future::isDone)) {
                TimeUnit.SECONDS.sleep(REPORT_SECONDS);
                progress.print();
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private boolean report(
            String address,
            Instant begin,
            List<Outage> outages,
            List<EffectLedger.Effect> effects,
            Path survivorsHeap,
            Path ownHeap)
            throws Exception {
        Instant drained = Instant.now();
        List<LiveHeap.Sample> survivors = LiveHeap.read(survivorsHeap);
        List<LiveHeap.Sample> own = LiveHeap.read(ownHeap);
        System.err.println("checking " + threads.size() + " threads");
        try (Connection connection = Connection.to(address);
                SoakCheck check = new SoakCheck(connection, effects, outages)) {
            threads.forEach(check::check);
            check.strays().forEach(stray -> violations.add("no thread knows of the call of " + stray));
            SoakCheck.Figures figures = check.figures();
            violations.addAll(figures.violations);
            SoakReport report = new SoakReport(seed, minutes, callers, begin, drained);
            report.print(threads, figures, effects.size(), outages);
            boolean flat = report.printHeaps(survivors, own);
            violations.forEach(violation -> System.out.println("Broken: " + violation));
            System.out.println(violations.isEmpty() && flat ? "All promises were kept." : "Promises were broken.");
            return violations.isEmpty() && flat;
        }
    }
}
