package dev.waymark.testkit.crash;

import dev.waymark.connect.Connection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Two workers in this process, for an ordinary unit test: the first one is cut off from its server at a crash point, for
 * good, and then the second one starts and takes over. To the server and to the thread, that is a worker that was
 * killed. Memory is not lost, however: to test what a killed process leaves behind, use {@link WorkerProcess}.
 *
 * <pre>{@code
 * try (Takeover workers = Takeover.at(CrashPoint.AFTER_EFFECT, server.address(), (connection, crash) ->
 *         AgentWorker.on(connection).agent(billing(crash.around(charge))).build().start())) {
 *     assertThat(assertComplete(client.prompt("billing", "Charge me").await()).text()).isEqualTo("Charged.");
 *     assertThat(workers.crashed()).isPresent();
 * }
 * }</pre>
 */
public final class Takeover implements AutoCloseable {
    private final String address;
    private final Starter starter;
    private final Path witness;

    /** Guarded by {@code this}, as are the following fields. */
    private final List<AutoCloseable> running = new ArrayList<>();

    private Optional<Throwable> failure = Optional.empty();
    private boolean closed;

    /** Starts a worker, which uses this connection, and passes its tools and models to {@link Crash#around}. */
    public interface Starter {
        /** Returns the started worker. */
        AutoCloseable start(Connection connection, Crash crash) throws Exception;
    }

    private Takeover(String address, Starter starter) throws IOException {
        this.address = address;
        this.starter = starter;
        this.witness = Files.createTempFile("waymark-takeover", "");
    }

    /** Starts the first worker, which is cut off when it passes this point for the first time. */
    public static Takeover at(CrashPoint point, String address, Starter starter) throws Exception {
        return at(Fault.at(point), address, starter);
    }

    /** Starts the first worker, which is cut off by this fault. */
    public static Takeover at(Fault fault, String address, Starter starter) throws Exception {
        Takeover takeover = new Takeover(address, starter);
        takeover.start(Crash.cuttingOff(fault, takeover.witness, takeover::takeOver));
        return takeover;
    }

    private void start(Crash crash) throws Exception {
        Connection connection = Connection.to(address, crash.interceptor());
        AutoCloseable worker = starter.start(connection, crash);
        synchronized (this) {
            running.add(() -> {
                worker.close();
                connection.close();
            });
            if (closed) {
                closeAll();
            }
        }
    }

    /** Runs in the background, because the crashed worker waits for this method. */
    private void takeOver() {
        inBackground(() -> {
            try {
                start(Crash.never(witness));
            } catch (Throwable e) {
                synchronized (this) {
                    failure = Optional.of(e);
                }
            }
        });
    }

    /**
     * The time at which the first worker was cut off, if it was. A test whose fault did not fire has shown nothing.
     *
     * @throws IllegalStateException if the second worker could not be started
     */
    public synchronized Optional<Instant> crashed() {
        failure.ifPresent(cause -> {
            throw new IllegalStateException("the second worker has not started", cause);
        });
        return Crash.witnessed(witness);
    }

    /** Closes both workers. Does not wait for a worker that was cut off: its calls never end. */
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        closeAll();
        Files.deleteIfExists(witness);
    }

    private void closeAll() {
        running.forEach(worker -> inBackground(() -> {
            try {
                worker.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        running.clear();
    }

    private static void inBackground(Runnable task) {
        Thread thread = new Thread(task, "waymark-takeover");
        thread.setDaemon(true);
        thread.start();
    }
}
