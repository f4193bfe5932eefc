package dev.waymark.bench.soak;

import dev.waymark.worker.server.DevServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** A real server with a database file, which can be killed and started again at the same address. */
final class KillableServer implements AutoCloseable {
    /**
     * The server's ports are below the port range of outgoing connections. While the server is down, an outgoing
     * connection could otherwise be given the server's port as its local port, and would prevent the server from
     * starting.
     */
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 10_000;
    private static final int MOST_STARTS = 5;

    private final Path binary;
    private final Path database;
    private final int port;
    private DevServer server;

    private KillableServer(Path binary, Path database, int port, DevServer server) {
        this.binary = binary;
        this.database = database;
        this.port = port;
        this.server = server;
    }

    static KillableServer start(Path binary, Path database) throws IOException, InterruptedException {
        int port = freePort();
        return new KillableServer(binary, database, port, DevServer.temporal(binary, Optional.of(database), port, 0));
    }

    private static int freePort() throws IOException {
        SplittableRandom random = new SplittableRandom();
        while (true) {
            int port = FIRST_PORT + random.nextInt(PORTS);
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (java.net.BindException e) {
                // The port is taken. Tries another one.
            }
        }
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    /** Kills the server process with SIGKILL, and waits until it has ended. */
    void kill() {
        List<ProcessHandle> processes =
                ProcessHandle.current().descendants().filter(this::isServer).toList();
        if (processes.size() != 1) {
            throw new IllegalStateException("one server process was expected: " + processes);
        }
        processes.get(0).destroyForcibly();
        processes.get(0).onExit().join();
        server.close();
    }

    private boolean isServer(ProcessHandle process) {
        boolean hasDatabase = List.of(process.info().arguments().orElse(new String[0]))
                .contains(database.toAbsolutePath().toString());
        return hasDatabase
                && process.info()
                        .command()
                        .filter(command -> Path.of(command).endsWith(binary.getFileName()))
                        .isPresent();
    }

    /** Starts the server again. Retries, because it may not answer in time on a busy machine. */
    void restart() throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                server = DevServer.temporal(binary, Optional.of(database), port, 0);
                return;
            } catch (IOException e) {
                if (i == MOST_STARTS) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
