package dev.waymark.contract;

import java.util.Optional;

/**
 * The size limits of a run. From {@code softEvents} on, or when the server suggests it, a run continues as new as soon
 * as possible. At any of the hard limits, it starts nothing new before it has continued as new. The server itself
 * terminates a run at 51,200 events or 50 MiB. {@code carriedBytes} is the largest packed state that a new run gets
 * with its input, and {@code chunkedBytes} the largest that it fetches in chunks.
 */
public record RunLimits(
        long softEvents,
        long hardEvents,
        long hardBytes,
        int hardUpdates,
        int hardSignals,
        int carriedBytes,
        Optional<Integer> chunkedBytes) {
    private static final int MEBIBYTE = 1024 * 1024;
    /** A run has at most 40 MiB, chunks included, and needs room to grow. */
    private static final int MOST_IN_CHUNKS = 16 * MEBIBYTE;

    public static final RunLimits DEFAULT = new RunLimits(
            Long.MAX_VALUE, 40_000, 40L * MEBIBYTE, 1_500, 8_000, MEBIBYTE + MEBIBYTE / 2, Optional.empty());

    /** The largest packed state that a new run accepts. */
    public int mostCarriedBytes() {
        return Math.max(carriedBytes, chunkedBytes.orElse(MOST_IN_CHUNKS));
    }

    /** For tests: continues as new after this many events. */
    public RunLimits withSoftEvents(long events) {
        return new RunLimits(events, hardEvents, hardBytes, hardUpdates, hardSignals, carriedBytes, chunkedBytes);
    }

    public RunLimits withHardEvents(long events) {
        return new RunLimits(softEvents, events, hardBytes, hardUpdates, hardSignals, carriedBytes, chunkedBytes);
    }

    public RunLimits withCarriedBytes(int bytes) {
        return new RunLimits(softEvents, hardEvents, hardBytes, hardUpdates, hardSignals, bytes, chunkedBytes);
    }

    public RunLimits withChunkedBytes(int bytes) {
        return new RunLimits(
                softEvents, hardEvents, hardBytes, hardUpdates, hardSignals, carriedBytes, Optional.of(bytes));
    }
}
