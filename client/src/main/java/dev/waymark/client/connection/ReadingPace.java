package dev.waymark.client.connection;

import java.util.concurrent.TimeUnit;

/**
 * How long a caller that only needs the outcome of a turn collects events before it reads them: not at all in the first
 * two seconds, then for a tenth of the time that it has waited, at most two seconds. If the caller read each event, it
 * would send several requests per step, and the server would read the history each time. Short turns are not delayed,
 * and long turns cost at most one read every two seconds.
 */
public final class ReadingPace {
    private static final long EAGER_MILLIS = 2_000;
    private static final long LONGEST_MILLIS = 2_000;

    private final long began = System.nanoTime();

    public long millis() {
        long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        return waited < EAGER_MILLIS ? 0 : Math.min(LONGEST_MILLIS, waited / 10);
    }
}
