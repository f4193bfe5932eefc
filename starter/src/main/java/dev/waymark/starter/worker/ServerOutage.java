package dev.waymark.starter.worker;

import dev.waymark.connect.Connection;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.ServerState;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line at the beginning and one at the end of an outage of the Temporal server, instead of several failures of
 * each poller per second. Also notices a server that answers but cannot reach its database, which an idle worker would
 * not notice because its polls just wait. Thread-safe.
 */
final class ServerOutage implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerOutage.class);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long LOOK_EVERY_MILLIS = 10_000;
    private static final long LOOK_AGAIN_MILLIS = 1_000;

    /** A server that is starting answers some requests while it still fails others. */
    private static final long QUIET_NANOS = Duration.ofSeconds(3).toNanos();

    private static volatile Optional<ServerOutage> watched = Optional.empty();

    private final String address;
    private final Supplier<ServerState> state;
    private final LongSupplier nanoTime;
    private boolean closed;
    /** Empty if there is no outage. Guarded by {@code this}, as are the following fields. */
    private Optional<Long> began = Optional.empty();

    private Optional<Long> answeredSince = Optional.empty();
    private int repetitions;
    private ServerState last = ServerState.WORKING;
    /** Whether the log says that the current outage is one of the database. */
    private boolean isOfDatabase;

    ServerOutage(String address, Supplier<ServerState> state, LongSupplier nanoTime) {
        this.address = address;
        this.state = state;
        this.nanoTime = nanoTime;
    }

    /** Logs the outages of this connection's server until it is closed. */
    static ServerOutage watch(Connection connection) {
        ServerOutage outage =
                watch(new ServerOutage(connection.address(), () -> connection.state(ANSWER), System::nanoTime));
        DaemonThreads.start("waymark-server-outage", outage::lookUntilClosed);
        return outage;
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

    /** Whether the server answers, but cannot reach its database. */
    synchronized boolean isOfDatabase() {
        return isOfDatabase;
    }

    /** Returns what to log in place of a failed request: empty if it was a repetition. */
    synchronized Optional<String> failed(String status) {
        answeredSince = Optional.empty();
        if (isOn()) {
            repetitions++;
            return Optional.empty();
        }
        begin();
        notifyAll();
        return Optional.of("The Temporal server at " + address + " does not answer (" + status
                + "). The worker keeps trying; its threads wait");
    }

    private void begin() {
        began = Optional.of(nanoTime.getAsLong());
        repetitions = 0;
    }

    private void lookUntilClosed() {
        try {
            while (awaitNextLook()) {
                look().ifPresent(LOG::warn);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean awaitNextLook() throws InterruptedException {
        if (!closed) {
            wait(isOn() || last != ServerState.WORKING ? LOOK_AGAIN_MILLIS : LOOK_EVERY_MILLIS);
        }
        return !closed;
    }

    /**
     * Returns what to log: that the server cannot reach its database, or that the outage is over. It is over once the
     * server has worked for a while without a failed request.
     */
    Optional<String> look() {
        ServerState now = state.get();
        synchronized (this) {
            // A single request may also be late because the server is busy.
            boolean isSure = now == last;
            last = now;
            if (now == ServerState.WITHOUT_DATABASE && isSure && !isOfDatabase) {
                if (!isOn()) {
                    begin();
                }
                isOfDatabase = true;
                return Optional.of("The Temporal server at " + address + " answers, but cannot reach its database."
                        + " The worker keeps trying; its threads wait");
            }
            return over(now);
        }
    }

    private Optional<String> over(ServerState now) {
        long time = nanoTime.getAsLong();
        answeredSince = now == ServerState.WORKING ? answeredSince.or(() -> Optional.of(time)) : Optional.empty();
        if (!isOn()
                || answeredSince.filter(since -> time - since >= QUIET_NANOS).isEmpty()) {
            return Optional.empty();
        }
        long seconds = Duration.ofNanos(answeredSince.get() - began.get()).toSeconds();
        began = Optional.empty();
        isOfDatabase = false;
        return Optional.of("The Temporal server at " + address + " works again, after " + seconds + " s. " + repetitions
                + " more failures were not logged");
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
        watched = Optional.empty();
    }
}
