package dev.waymark.worker.workflow;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.connect.Connection;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One server of each kind for all test classes. They end with the JVM. Tests share the servers, but never threads. */
public final class TestServers {
    private static @Nullable Connection inMemory;
    private static @Nullable Connection real;

    private TestServers() {}

    public static synchronized Connection inMemory() {
        if (inMemory == null) {
            inMemory = connect(InMemoryServer.start(0));
        }
        return inMemory;
    }

    /** Skips the test if there is no {@code temporal} binary. */
    public static synchronized Connection real() {
        if (real == null) {
            try {
                Optional<Path> binary = TemporalBinary.find();
                assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
                real = connect(DevServer.temporal(binary.get(), Optional.empty(), 0, 0));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
        return real;
    }

    private static Connection connect(DevServer server) {
        Connection connection = Connection.to(server.address());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            connection.close();
            server.close();
        }));
        return connection;
    }
}
