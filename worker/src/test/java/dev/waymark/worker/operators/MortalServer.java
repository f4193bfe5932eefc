package dev.waymark.worker.operators;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerUnreachable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A server that stores everything in a file, and that can be killed and restarted at the same address. */
final class MortalServer implements AutoCloseable {
    private final Path binary;
    private final Path directory;
    private final int port;
    private Process process;

    MortalServer(Path binary, Path directory) throws IOException {
        this.binary = binary;
        this.directory = directory;
        try (ServerSocket probe = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            this.port = probe.getLocalPort();
        }
        this.process = start();
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    private Process start() throws IOException {
        return new ProcessBuilder(
                        binary.toString(),
                        "server",
                        "start-dev",
                        "--headless",
                        "--ip",
                        "127.0.0.1",
                        "--port",
                        Integer.toString(port),
                        "--db-filename",
                        directory.resolve("temporal.db").toString(),
                        "--log-level",
                        "error")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("temporal.log").toFile()))
                .start();
    }

    /** Kills the server as {@code kill -9} does, so that it cannot send or save anything. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(60, TimeUnit.SECONDS);
    }

    void restart() throws IOException {
        process = start();
        connect().close();
    }

    /** Waits until the server answers. */
    Connection connect() {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .ignoreException(ServerUnreachable.class)
                .until(() -> Connection.to(address()), found -> true);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
