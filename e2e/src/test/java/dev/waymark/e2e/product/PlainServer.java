package dev.waymark.e2e.product;

import static org.awaitility.Awaitility.await;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** A server as Temporal's CLI starts it, without search attributes for threads. */
public record PlainServer(KillableServer server) implements AutoCloseable {

    /** Starts a server with more options. Without the program {@code temporal}, the test is skipped. */
    public static PlainServer start(String... more) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        return new PlainServer(KillableServer.start(binary.get(), port -> {
            List<String> command =
                    new ArrayList<>(List.of(binary.get().toString(), "server", "start-dev", "--headless"));
            command.addAll(List.of("--ip", "127.0.0.1", "--port", Integer.toString(port), "--log-level", "error"));
            command.addAll(List.of(more));
            ChildProcess process = ChildProcess.of(command).mergingErrors().start();
            try {
                connect("127.0.0.1:" + port).close();
                return process;
            } catch (RuntimeException e) {
                process.close();
                throw e;
            }
        }));
    }

    public String address() {
        return server.address();
    }

    public Connection connect() {
        return connect(address());
    }

    /** Waits until the server answers, and returns a connection to it. */
    private static Connection connect(String address) {
        return await().atMost(Duration.ofSeconds(60))
                .ignoreException(ConnectionException.class)
                .until(() -> Connection.to(address), found -> true);
    }

    @Override
    public void close() {
        server.close();
    }
}
