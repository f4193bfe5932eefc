package dev.waymark.bench.soak;

import dev.waymark.testkit.EffectLedger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints a line about the progress of a soak test to stderr. */
final class SoakProgress {
    private final Instant begin;
    private final Collection<SoakThread> threads;
    private final Collection<String> violations;
    private final Saboteur saboteur;
    private final EffectLedger ledger;
    private final Path survivorsHeap;
    private final Path ownHeap;

    SoakProgress(
            Instant begin,
            Collection<SoakThread> threads,
            Collection<String> violations,
            Saboteur saboteur,
            EffectLedger ledger,
            Path survivorsHeap,
            Path ownHeap) {
        this.begin = begin;
        this.threads = threads;
        this.violations = violations;
        this.saboteur = saboteur;
        this.ledger = ledger;
        this.survivorsHeap = survivorsHeap;
        this.ownHeap = ownHeap;
    }

    void print() {
        long over = threads.stream().filter(SoakThread::isOver).count();
        int messages =
                threads.stream().mapToInt(thread -> thread.accepted().size()).sum();
        List<Outage> outages = saboteur.outages();
        String faults = Arrays.stream(Outage.Kind.values())
                .map(kind ->
                        outages.stream().filter(outage -> outage.kind() == kind).count() + " "
                                + kind.name().toLowerCase(Locale.ROOT).replace('_', ' '))
                .collect(Collectors.joining(", "));
        Duration since = Duration.between(begin, Instant.now());
        System.err.println(String.format(
                Locale.ROOT,
                "%02d:%02d  threads %d over, %d open; messages %d; effects %d; faults: %s; MiB live: worker %s, callers %s;"
                        + " broken %d",
                since.toMinutes(),
                since.toSecondsPart(),
                over,
                threads.size() - over,
                messages,
                ledger.effects().size(),
                faults,
                newest(survivorsHeap),
                newest(ownHeap),
                violations.size()));
    }

    private static String newest(Path heap) {
        List<LiveHeap.Sample> samples = LiveHeap.read(heap);
        return samples.isEmpty()
                ? "?"
                : String.format(
                        Locale.ROOT, "%.1f", samples.get(samples.size() - 1).mebibytes());
    }
}
