package dev.waymark.testkit.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A development server that can be killed, suspended, and started again at the same address.
 *
 * <pre>{@code
 * try (KillableServer server = KillableServer.start(binary, port -> DevServer.temporal(binary, database, port, 0))) {
 *     // have workers do something …
 *     server.kill();
 *     server.restart();
 * }
 * }</pre>
 */
public final class KillableServer implements AutoCloseable {
    private static final int MOST_STARTS = 5;

    private final Path binary;
    private final Launch launch;
    private final int port;
    private AutoCloseable server;

    private KillableServer(Path binary, Launch launch, int port, AutoCloseable server) {
        this.binary = binary;
        this.launch = launch;
        this.port = port;
        this.server = server;
    }

    /** Starts a server. */
    @FunctionalInterface
    public interface Launch {
        /** Starts a server that listens on this port of the loopback address, and returns once it answers. */
        AutoCloseable at(int port) throws IOException, InterruptedException;
    }

    /** @param binary the program that {@code launch} runs as a descendant of this process */
    public static KillableServer start(Path binary, Launch launch) throws IOException, InterruptedException {
        int port = FreePort.next();
        return new KillableServer(binary, launch, port, launch.at(port));
    }

    /** The address for clients, as {@code host:port}. */
    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Kills the server with SIGKILL, so that it can neither send nor save anything, and waits until it has ended. */
    public void kill() {
        ProcessHandle process = process();
        process.destroyForcibly();
        process.onExit().join();
        closeServer();
    }

    /** Suspends the server with SIGSTOP: connections stay open, and nothing answers. */
    public void suspend() throws IOException, InterruptedException {
        ProcessFamily.signal("STOP", process());
    }

    /** Continues a server that was suspended. */
    public void resume() throws IOException, InterruptedException {
        ProcessFamily.signal("CONT", process());
    }

    private ProcessHandle process() {
        List<ProcessHandle> processes =
                ProcessHandle.current().descendants().filter(this::isServer).toList();
        if (processes.size() != 1) {
            throw new IllegalStateException("one server process was expected: " + processes);
        }
        return processes.get(0);
    }

    private boolean isServer(ProcessHandle process) {
        return process.info()
                        .command()
                        .filter(command -> Path.of(command).endsWith(binary.getFileName()))
                        .isPresent()
                && List.of(process.info().arguments().orElse(new String[0])).contains(Integer.toString(port));
    }

    /** Starts the server again. Retries, because it may not answer in time on a busy machine. */
    public void restart() throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                server = launch.at(port);
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
        closeServer();
    }

    private void closeServer() {
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException("the server does not end: " + address(), e);
        }
    }
}
