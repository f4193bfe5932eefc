package dev.waymark.bench.soak;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Prints the report of a soak test in Markdown. */
final class SoakReport {
    /** A worker's heap grows until its cache of threads is full. Shorter soak tests end before that. */
    private static final int LEAST_MINUTES_FOR_TREND = 10;

    /** The limit of the upper end of the trend, in MiB per hour. */
    private static final double MOST_GROWTH = 20;

    private final long seed;
    private final int minutes;
    private final int callers;
    private final Instant begin;
    private final Instant drained;

    SoakReport(long seed, int minutes, int callers, Instant begin, Instant drained) {
        this.seed = seed;
        this.minutes = minutes;
        this.callers = callers;
        this.begin = begin;
        this.drained = drained;
    }

    void print(Collection<SoakThread> threads, SoakCheck.Figures figures, int effects, List<Outage> outages) {
        line(
                "%s, %d minutes, seed %d, %d callers, three workers. %d s after the last task was sent, all had their"
                        + " outcome.",
                LocalDate.now(ZoneOffset.UTC),
                minutes,
                seed,
                callers,
                Duration.between(begin.plus(Duration.ofMinutes(minutes)), drained)
                        .toSeconds());
        line("");
        line("| fault | times | seconds |");
        line("|---|---:|---:|");
        for (Outage.Kind kind : Outage.Kind.values()) {
            List<Outage> these =
                    outages.stream().filter(outage -> outage.kind() == kind).toList();
            line(
                    "| %s | %d | %s |",
                    kind.words(),
                    these.size(),
                    kind == Outage.Kind.WORKER_KILLED
                            ? ""
                            : these.stream()
                                            .mapToLong(outage -> Duration.between(outage.from(), outage.to())
                                                    .toMillis())
                                            .sum()
                                    / 1000);
        }
        line("");
        line("| threads | |");
        line("|---|---:|");
        for (SoakThread.Kind kind : SoakThread.Kind.values()) {
            line(
                    "| %s | %d |",
                    kind.words(),
                    threads.stream().filter(thread -> thread.kind() == kind).count());
        }
        line("| of subagents | %d |", figures.subagents);
        line("");
        line("| work | |");
        line("|---|---:|");
        line("| messages | %d |", figures.messages);
        line("| turns | %d |", figures.turns);
        line("| runs, each replayed | %d |", figures.runs);
        line("| summaries | %d |", figures.summaries);
        line("| calls | %d |", figures.calls);
        figures.byStatus.forEach(
                (status, count) -> line("| … %s | %d |", status.name().toLowerCase(Locale.ROOT), count));
        line("| dispatched again | %d |", figures.dispatchedAgain);
        line("| effects | %d |", effects);
        line("| duplicated | %d |", figures.duplicated);
        line("| lost | %d |", figures.lost);
        line("| unknown | %d |", figures.unknown);
        line("");
    }

    /**
     * Prints the trends of both heaps. Returns whether the worker's heap does not grow. A soak test that is too short
     * for a trend passes.
     */
    boolean printHeaps(List<LiveHeap.Sample> survivors, List<LiveHeap.Sample> own) {
        line("| live heap, second half | samples | MiB, least | MiB, most | MiB an hour | ± |");
        line("|---|---:|---:|---:|---:|---:|");
        boolean flat = heap("of the worker that was not killed", secondHalf(survivors));
        heap("of the callers", secondHalf(own));
        line("");
        return flat || minutes < LEAST_MINUTES_FOR_TREND;
    }

    private List<LiveHeap.Sample> secondHalf(List<LiveHeap.Sample> samples) {
        Instant end = begin.plus(Duration.ofMinutes(minutes));
        Instant middle = begin.plus(Duration.ofMinutes(minutes).dividedBy(2));
        return samples.stream()
                .filter(sample -> sample.at().isAfter(middle) && sample.at().isBefore(end))
                .toList();
    }

    private static boolean heap(String whose, List<LiveHeap.Sample> samples) {
        if (samples.size() < 3) {
            line("| %s | %d | | | | |", whose, samples.size());
            return true;
        }
        LiveHeap.Trend trend = LiveHeap.trend(samples);
        line(
                "| %s | %d | %.1f | %.1f | %.1f | %.1f |",
                whose,
                samples.size(),
                samples.stream().mapToDouble(LiveHeap.Sample::mebibytes).min().orElseThrow(),
                samples.stream().mapToDouble(LiveHeap.Sample::mebibytes).max().orElseThrow(),
                trend.mebibytesAnHour(),
                2 * trend.error());
        return trend.upper() <= MOST_GROWTH;
    }

    private static void line(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
