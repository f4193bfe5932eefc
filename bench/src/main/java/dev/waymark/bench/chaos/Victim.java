package dev.waymark.bench.chaos;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerUnreachable;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.Kill;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JVM with workers, one for each of several runs, that are to die. It kills itself when the faults of all of them are
 * due, and ends by itself when this JVM does.
 */
final class Victim implements AutoCloseable {
    private static final String READY = "ready";
    private static final int PATIENCE_SECONDS = 120;
    private static final int LAST_WORDS = 20;
    private static final int MOST_TRIES = 20;

    private final Process process;

    private Victim(Process process) {
        this.process = process;
    }

    /** One of its workers. */
    record Role(String taskQueue, Fault fault, Path witness) {}

    /** Returns once all its workers take work. */
    static Victim start(String address, int ledgerPort, List<Role> roles) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                address,
                Integer.toString(ledgerPort)));
        roles.forEach(role -> command.addAll(List.of(
                role.taskQueue(), role.fault().toString(), role.witness().toString())));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Victim victim = new Victim(process);
        CompletableFuture<Void> ready = new CompletableFuture<>();
        Thread reader = new Thread(() -> read(process, ready), "output of a worker process");
        reader.setDaemon(true);
        reader.start();
        try {
            ready.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            return victim;
        } catch (ExecutionException | TimeoutException e) {
            victim.close();
            throw new IOException("a worker process did not become ready", e);
        }
    }

    /** To the end, or the process could not write any more. What it said last is why it did not become ready. */
    private static void read(Process process, CompletableFuture<Void> ready) {
        Deque<String> last = new ArrayDeque<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals(READY)) {
                    ready.complete(null);
                }
                last.addLast(line);
                if (last.size() > LAST_WORDS) {
                    last.removeFirst();
                }
            }
        } catch (IOException e) {
            // Killed.
        }
        ready.completeExceptionally(new IOException(String.join("\n", last)));
    }

    /** Whether it has died, within so much time. */
    boolean diesWithin(Duration most) throws InterruptedException {
        return process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Kills it now, whatever its faults. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    // ---- inside the process

    public static void main(String[] arguments) throws Exception {
        int ledgerPort = Integer.parseInt(arguments[1]);
        List<String> roles = List.of(arguments).subList(2, arguments.length);
        Kill kill = Kill.after(roles.size() / 3);
        for (int i = 0; i < roles.size(); i += 3) {
            Crash crash = Crash.of(Fault.parse(roles.get(i + 1)), Path.of(roles.get(i + 2)), kill);
            Connection connection = connect(arguments[0], crash);
            Cast.worker(connection.client(), roles.get(i), ledgerPort, crash).start();
        }
        System.out.println(READY);
        while (System.in.read() >= 0) {
            // Whoever started this is alive.
        }
        Runtime.getRuntime().halt(1);
    }

    /** On a busy machine a server may take longer to answer than is usual. */
    private static Connection connect(String address, Crash crash) throws ServerUnreachable {
        for (int i = 1; ; i++) {
            try {
                return Connection.to(address, crash.interceptor());
            } catch (ServerUnreachable e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }
}
