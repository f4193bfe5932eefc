package dev.waymark.worker.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A Temporal server for development, reachable from this machine only. It has answered when one of these exists, and is
 * gone when it is closed.
 *
 * <pre>{@code
 * Path database = Path.of(".waymark/temporal.db");
 * try (DevServer server = DevServer.temporal(TemporalBinary.find().orElseThrow(), Optional.of(database), 7233, 8233)) {
 *     String target = server.address(); // 127.0.0.1:7233
 * }
 * }</pre>
 */
public interface DevServer extends AutoCloseable {

    /** Where clients find it, as {@code host:port}. */
    String address();

    /** The URL of its Web UI, if it has one. */
    Optional<String> uiAddress();

    Kind kind();

    @Override
    void close();

    /** What it is, by the name that is printed. */
    enum Kind {
        TEMPORAL("temporal"),
        IN_MEMORY("in-memory");

        private final String wireName;

        Kind(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    /**
     * The server of the SDK's tests, in this JVM: nothing to install, nothing kept.
     *
     * @param port 0 takes any free one
     * @throws BindException when the port is taken, with {@code PORT is in use} as its message
     */
    static DevServer inMemory(int port) throws IOException {
        return inMemory(port, Optional.empty());
    }

    /**
     * As {@link #inMemory(int)}, and its clients keep threads that have names in a directory, unless they are told
     * otherwise: the next server has them again.
     *
     * @param defaultSaver {@code file:DIRECTORY}, absolute
     */
    static DevServer inMemory(int port, Optional<String> defaultSaver) throws IOException {
        try {
            return InMemoryServer.start(port, defaultSaver);
        } catch (UncheckedIOException e) {
            throw (IOException) new BindException(port + " is in use").initCause(e);
        }
    }

    /**
     * The real server with its Web UI, as a child process. It is tuned for latency, logs into a file beside the database,
     * and ends with this JVM, also when that is killed.
     *
     * @param binary the {@code temporal} command
     * @param database where threads are kept; without one, they are gone when it is closed
     * @param port 0 takes any free one
     * @param uiPort 0 takes any free one
     * @throws BindException when a port is taken, with {@code PORT is in use} as its message
     * @throws IOException when it does not answer within half a minute, with the end of its log
     * @throws InterruptedException when interrupted meanwhile; no process is left
     */
    static DevServer temporal(Path binary, Optional<Path> database, int port, int uiPort)
            throws IOException, InterruptedException {
        return TemporalServer.start(binary, database, port, uiPort);
    }
}
