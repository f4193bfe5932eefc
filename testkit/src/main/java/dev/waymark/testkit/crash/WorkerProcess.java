package dev.waymark.testkit.crash;

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
 * A JVM that runs a worker, which may die. It has the class path of this JVM and ends with this JVM. Its heap has at
 * most 192 MiB, because a test may need many such processes.
 *
 * <pre>{@code
 * try (WorkerProcess process = WorkerProcess.start(Worker.class, address, fault.toString(), witness.toString())) {
 *     // have it do something …
 *     assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
 * }
 * assertThat(Crash.witnessed(witness)).isPresent();
 * }</pre>
 */
public final class WorkerProcess implements AutoCloseable {
    private static final String READY = "worker process is ready";
    private static final int START_SECONDS = 300;
    private static final int LAST_WORDS = 20;

    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a class whose {@code main} method ends with a call of {@link #work}, and returns when that call is
     * reached.
     */
    public static WorkerProcess start(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        WorkerProcess worker = new WorkerProcess(process);
        CompletableFuture<Void> ready = new CompletableFuture<>();
        Thread reader = new Thread(() -> read(process, ready), "output of a worker process");
        reader.setDaemon(true);
        reader.start();
        try {
            ready.get(START_SECONDS, TimeUnit.SECONDS);
            return worker;
        } catch (ExecutionException | TimeoutException e) {
            worker.close();
            throw new IOException("a worker process did not become ready", e);
        } catch (InterruptedException e) {
            worker.close();
            throw e;
        }
    }

    /**
     * Reads all output, because a full pipe would block the process. If the process ends before it is ready, the last
     * lines show why.
     */
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
            // The process was killed.
        }
        ready.completeExceptionally(new IOException(String.join("\n", last)));
    }

    /**
     * For the {@code main} method: reports that the worker is ready. Does not return: the process ends when it is
     * killed or its parent process ends.
     */
    public static void work() throws IOException {
        System.out.println(READY);
        while (System.in.read() >= 0) {
            // The parent process is alive: it sends nothing, and its end closes the stream.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Suspends the process and its descendants with SIGSTOP, like a host that freezes. */
    public void suspend() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Continues a process that has been suspended, and its descendants. */
    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        Family.signal(name, process.toHandle());
    }

    /** Waits at most this long for the process to die, and returns whether it died. */
    public boolean diesWithin(Duration most) throws InterruptedException {
        return process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Kills the process now, regardless of its faults. The process has ended when this method returns, unless the
     * calling thread is interrupted.
     */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
