package dev.waymark.worker.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A Temporal server for development, reachable from this machine only. The server is ready once an instance exists.
 * Closing the instance ends the server.
 *
 * <pre>{@code
 * Path database = Path.of(".waymark/temporal.db");
 * try (DevServer server = DevServer.temporal(TemporalBinary.find().orElseThrow(), Optional.of(database), 7233, 8233)) {
 *     String target = server.address(); // 127.0.0.1:7233
 * }
 * }</pre>
 */
public interface DevServer extends AutoCloseable {

    /** The address for clients, as {@code host:port}. */
    String address();

    /** The URL of the server's Web UI, if it has one. */
    Optional<String> uiAddress();

    /** Whether this is Temporal's own server or the one in memory. */
    Kind kind();

    @Override
    void close();

    /** The two servers that can be started. */
    enum Kind {
        TEMPORAL("temporal"),
        IN_MEMORY("in-memory");

        private final String wireName;

        Kind(String wireName) {
            this.wireName = wireName;
        }

        /** The name in the output of {@code waymark dev}. */
        public String wireName() {
            return wireName;
        }
    }

    /**
     * Starts the Temporal SDK's test server in this JVM. It needs no installation and stores nothing.
     *
     * @param port 0 for any free port
     * @throws BindException if the port is taken, with the message {@code PORT is in use}
     */
    static DevServer inMemory(int port) throws IOException {
        return inMemory(port, Optional.empty());
    }

    /**
     * Like {@link #inMemory(int)}, with a default saver. Clients that choose no saver save named threads there, where
     * the next server finds them.
     *
     * @param defaultSaver {@code file:DIRECTORY} with an absolute path; empty for no default
     */
    static DevServer inMemory(int port, Optional<String> defaultSaver) throws IOException {
        try {
            return InMemoryServer.start(port, defaultSaver);
        } catch (UncheckedIOException e) {
            throw (IOException) new BindException(port + " is in use").initCause(e);
        }
    }

    /**
     * Starts the real server with its Web UI as a child process. The server is tuned for latency and ends with this
     * JVM, even if the JVM is killed. Its log is next to the database, or in a temporary file if there is none.
     *
     * @param binary the {@code temporal} command
     * @param database the file that stores threads; without one, closing the server loses them
     * @param port 0 for any free port
     * @param uiPort 0 for any free port
     * @throws BindException if a port is taken, with the message {@code PORT is in use}
     * @throws IOException if the server ends, or does not answer within half a minute; the message contains the end of
     *     its log
     * @throws InterruptedException if interrupted while starting; no process is left behind
     */
    static DevServer temporal(Path binary, Optional<Path> database, int port, int uiPort)
            throws IOException, InterruptedException {
        return TemporalServer.start(binary, database, port, uiPort);
    }
}
