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

    /** The URL of its Web UI, if it has one. */
    Optional<String> uiAddress();

    /** The kind of this server. */
    Kind kind();

    @Override
    void close();

    /** The kind of server, with its printed name. */
    enum Kind {
        TEMPORAL("temporal"),
        IN_MEMORY("in-memory");

        private final String wireName;

        Kind(String wireName) {
            this.wireName = wireName;
        }

        /** The printed name. */
        public String wireName() {
            return wireName;
        }
    }

    /**
     * The Temporal SDK's test server, in this JVM. Needs no installation and stores nothing.
     *
     * @param port 0 for any free port
     * @throws BindException if the port is taken, with the message {@code PORT is in use}
     */
    static DevServer inMemory(int port) throws IOException {
        return inMemory(port, Optional.empty());
    }

    /**
     * Like {@link #inMemory(int)}. By default its clients save named threads to a directory, where the next server
     * finds them.
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
     * The real server with its Web UI, as a child process. It is tuned for latency, writes its log next to the
     * database, and ends with this JVM, even if the JVM is killed.
     *
     * @param binary the {@code temporal} command
     * @param database the file that stores threads; without one, closing the server loses them
     * @param port 0 for any free port
     * @param uiPort 0 for any free port
     * @throws BindException if a port is taken, with the message {@code PORT is in use}
     * @throws IOException if the server does not answer within half a minute, with the end of its log
     * @throws InterruptedException if interrupted while starting; no process is left behind
     */
    static DevServer temporal(Path binary, Optional<Path> database, int port, int uiPort)
            throws IOException, InterruptedException {
        return TemporalServer.start(binary, database, port, uiPort);
    }
}
