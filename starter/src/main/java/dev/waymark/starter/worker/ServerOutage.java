package dev.waymark.starter.worker;

import dev.waymark.connect.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces the failures of an outage of the Temporal server, of which each poller logs several a second, by one line at
 * its beginning and one at its end. Thread-safe.
 */
final class ServerOutage implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerOutage.class);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long LOOK_EVERY_MILLIS = 1_000;

    /** A server that starts answers some requests before others. */
    private static final long QUIET_NANOS = Duration.ofSeconds(3).toNanos();

    private static volatile Optional<ServerOutage> watched = Optional.empty();

    private final String address;
    private final BooleanSupplier answers;
    private final LongSupplier nanoTime;
    private boolean closed;
    /** Empty if there is no outage. Guarded by {@code this}, as are the following fields. */
    private Optional<Long> began = Optional.empty();

    private Optional<Long> answeredSince = Optional.empty();
    private int repetitions;

    ServerOutage(String address, BooleanSupplier answers, LongSupplier nanoTime) {
        this.address = address;
        this.answers = answers;
        this.nanoTime = nanoTime;
    }

    /** From now until it is closed, the log of this process has the outages of this connection's server. */
    static ServerOutage watch(Connection connection) {
        return watch(new ServerOutage(
                connection.address(), () -> Connection.answers(connection.stubs(), ANSWER), System::nanoTime));
    }

    static ServerOutage watch(ServerOutage outage) {
        watched = Optional.of(outage);
        return outage;
    }

    /** Empty if the process has no worker. */
    static Optional<ServerOutage> watched() {
        return watched;
    }

    synchronized boolean isOn() {
        return began.isPresent();
    }

    /** Returns what to log in place of a failed request: empty if it was a repetition. */
    synchronized Optional<String> failed(String status) {
        answeredSince = Optional.empty();
        if (isOn()) {
            repetitions++;
            return Optional.empty();
        }
        began = Optional.of(nanoTime.getAsLong());
        repetitions = 0;
        Thread looking = new Thread(this::lookUntilOver, "waymark-server-outage");
        looking.setDaemon(true);
        looking.start();
        return Optional.of("The Temporal server at " + address + " does not answer (" + status
                + "). The worker keeps trying; its threads wait");
    }

    private void lookUntilOver() {
        try {
            Optional<String> over = Optional.empty();
            while (over.isEmpty() && !isClosed()) {
                Thread.sleep(LOOK_EVERY_MILLIS);
                over = look();
            }
            over.ifPresent(LOG::warn);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns what to log if the outage is over: the server has answered for a while, and no request has failed. */
    Optional<String> look() {
        boolean isThere = answers.getAsBoolean();
        synchronized (this) {
            long now = nanoTime.getAsLong();
            answeredSince = isThere ? answeredSince.or(() -> Optional.of(now)) : Optional.empty();
            if (!isOn()
                    || answeredSince.filter(since -> now - since >= QUIET_NANOS).isEmpty()) {
                return Optional.empty();
            }
            long seconds = Duration.ofNanos(answeredSince.get() - began.get()).toSeconds();
            began = Optional.empty();
            return Optional.of("The Temporal server at " + address + " answers again, after " + seconds + " s. "
                    + repetitions + " more failures were not logged");
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        watched = Optional.empty();
    }
}
