package dev.waymark.client.connection;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** Repeats requests to a server that has more callers than it can serve in time. */
public final class BusyServer {
    /** How long a server may be busy before its callers get a failure. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private BusyServer() {}

    /** Repeats a request while the server is too busy for it, until the deadline, but at most for two minutes. */
    public static <T> T ask(Supplier<T> request, WaitDeadline deadline) {
        WaitDeadline patience = deadline.orSooner(PATIENCE);
        while (true) {
            try {
                return request.get();
            } catch (StatusRuntimeException e) {
                if (!isBusy(e) || patience.isPast()) {
                    throw e;
                }
            }
            Sleeper.millis(Math.min(pauseMillis(), patience.millisLeft()));
        }
    }

    /**
     * Returns whether the server is too busy. A server that is down does not count as busy: its connections end with
     * another status.
     */
    private static boolean isBusy(StatusRuntimeException e) {
        return switch (e.getStatus().getCode()) {
            case DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED -> true;
            default -> false;
        };
    }

    /** Returns a random pause, so that waiting callers do not all send their requests at once. */
    static long pauseMillis() {
        return ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_MILLIS);
    }
}
