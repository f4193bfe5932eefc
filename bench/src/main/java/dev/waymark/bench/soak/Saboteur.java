package dev.waymark.bench.soak;

import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.testkit.crash.CuttableProxy;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Causes faults at random times. Faults of different targets may overlap; a target has one fault at a time. */
final class Saboteur {
    private static final int LEAST_PAUSE_MILLIS = 3_000;
    private static final int MOST_PAUSE_MILLIS = 12_000;
    /** The longest silence: more than a worker and its server need to notice a dead connection. */
    private static final int MOST_SILENCE_MILLIS = 25_000;

    private static final int MOST_CUT_MILLIS = 12_000;
    private static final int MOST_DOWNTIME_MILLIS = 8_000;

    private final SplittableRandom random;
    private final List<Target> targets = new ArrayList<>();
    private final List<Outage> outages = new CopyOnWriteArrayList<>();

    Saboteur(long seed, KillableServer server, List<SoakWorker> mortal, List<CuttableProxy> proxies) {
        this.random = new SplittableRandom(seed);
        for (SoakWorker worker : mortal) {
            targets.add(new Target(List.of(Outage.Kind.WORKER_KILLED), (kind, share) -> {
                worker.kill();
                return worker::restart;
            }));
        }
        targets.add(new Target(List.of(Outage.Kind.SERVER_KILLED), (kind, share) -> {
            server.kill();
            pause(share, MOST_DOWNTIME_MILLIS);
            return server::restart;
        }));
        for (CuttableProxy proxy : proxies) {
            targets.add(new Target(
                    List.of(Outage.Kind.CONNECTION_CUT, Outage.Kind.CONNECTION_SILENT), (kind, share) -> {
                        if (kind == Outage.Kind.CONNECTION_CUT) {
                            proxy.cut();
                            pause(share, MOST_CUT_MILLIS);
                        } else {
                            proxy.silence();
                            pause(share, MOST_SILENCE_MILLIS);
                        }
                        return proxy::reconnect;
                    }));
        }
    }

    private record Target(List<Outage.Kind> kinds, Fault fault, AtomicBoolean busy) {
        Target(List<Outage.Kind> kinds, Fault fault) {
            this(kinds, fault, new AtomicBoolean());
        }
    }

    /**
     * Breaks the target, waits for this fraction of the longest time, and returns how to repair it. A killed worker is
     * repaired without waiting.
     */
    private interface Fault {
        Repair cause(Outage.Kind kind, double share) throws InterruptedException;
    }

    private interface Repair {
        void repair() throws IOException, InterruptedException;
    }

    /** Causes faults until this time, and returns when all of them are repaired. */
    void run(Instant end) throws Exception {
        ExecutorService hands = Executors.newCachedThreadPool();
        List<Future<?>> faults = new ArrayList<>();
        try {
            pause(random.nextDouble(), MOST_PAUSE_MILLIS);
            while (Instant.now().isBefore(end)) {
                Target target = targets.get(random.nextInt(targets.size()));
                Outage.Kind kind =
                        target.kinds().get(random.nextInt(target.kinds().size()));
                double share = random.nextDouble();
                if (target.busy().compareAndSet(false, true)) {
                    faults.add(hands.submit(() -> {
                        cause(target, kind, share);
                        return null;
                    }));
                }
                TimeUnit.MILLISECONDS.sleep(LEAST_PAUSE_MILLIS);
                pause(random.nextDouble(), MOST_PAUSE_MILLIS);
            }
            for (Future<?> fault : faults) {
                fault.get();
            }
        } finally {
            hands.shutdownNow();
        }
    }

    private void cause(Target target, Outage.Kind kind, double share) throws IOException, InterruptedException {
        Instant from = Instant.now();
        Repair repair = target.fault().cause(kind, share);
        Instant broken = Instant.now();
        repair.repair();
        outages.add(new Outage(kind, from, kind == Outage.Kind.WORKER_KILLED ? broken : Instant.now()));
        target.busy().set(false);
    }

    private static void pause(double share, int mostMillis) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep((long) (share * mostMillis));
    }

    /** Returns the faults that have ended. */
    List<Outage> outages() {
        return List.copyOf(outages);
    }
}
