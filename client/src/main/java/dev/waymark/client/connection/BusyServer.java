package dev.waymark.client.connection;

import dev.waymark.connect.RequestRetry;
import dev.waymark.connect.ServerAnswer;
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
        Duration longest = Duration.ofMillis(deadline.orSooner(PATIENCE).millisLeft());
        try {
            return new RequestRetry(longest, BusyServer::isBusy, () -> Duration.ofMillis(pauseMillis()))
                    .send(left -> request.get());
        } catch (InterruptedException e) {
            throw Sleeper.interrupted(e);
        }
    }

    /** A server that is down does not count as busy: its connections end with another status. */
    private static boolean isBusy(ServerAnswer answer) {
        return answer == ServerAnswer.BUSY || answer == ServerAnswer.LATE;
    }

    /** Returns a random pause, so that waiting callers do not all send their requests at once. */
    static long pauseMillis() {
        return ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_MILLIS);
    }
}
