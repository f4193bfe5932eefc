package dev.waymark.client.connection;

import java.util.concurrent.TimeUnit;

/**
 * How long a caller that only wants the outcome of a turn lets events gather before it reads them: a tenth of the time
 * that it has waited. A wait for the next event ends several times a step, and the server reads the history each time.
 * Short turns are not delayed, and those of hours cost few requests.
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
