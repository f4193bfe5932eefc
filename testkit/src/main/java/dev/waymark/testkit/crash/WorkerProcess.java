package dev.waymark.testkit.crash;

import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.testkit.process.ProcessFamily;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

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
    private static final Duration START = Duration.ofMinutes(5);

    private final ChildProcess process;

    private WorkerProcess(ChildProcess process) {
        this.process = process;
    }

    /**
     * Starts a class whose {@code main} method ends with a call of {@link #work}, and returns when that call is
     * reached.
     *
     * @throws IOException if the call is not reached; the message contains the last output of the process
     */
    public static WorkerProcess start(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> flags = new ArrayList<>(ChildProcess.SHORT_LIVED);
        flags.addAll(List.of("-Xmx192m", "-XX:+ExitOnOutOfMemoryError"));
        return ready(ChildProcess.java(flags, main, arguments).mergingErrors().start(), READY::equals);
    }

    /**
     * Starts an application in a jar, such as a Spring Boot application, and returns when it prints a line that
     * contains {@code ready}. The application inherits the environment of this process. {@link #close} kills it like
     * {@code kill -9}.
     *
     * <pre>{@code
     * WorkerProcess.startJar(Path.of("target/restaurant-1.0.jar"), "Started Restaurant", "--server.port=0");
     * }</pre>
     *
     * @throws IOException if the line does not appear; the message contains the last output of the process
     */
    public static WorkerProcess startJar(Path jar, String ready, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(ChildProcess.javaCommand()));
        command.addAll(ChildProcess.SHORT_LIVED);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(List.of(arguments));
        return ready(ChildProcess.of(command).mergingErrors().start(), line -> line.contains(ready));
    }

    private static WorkerProcess ready(ChildProcess process, Predicate<String> ready)
            throws IOException, InterruptedException {
        try {
            process.awaitLine(ready, START);
            return new WorkerProcess(process);
        } catch (IOException | InterruptedException e) {
            process.close();
            throw e;
        }
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
        ProcessFamily.signal("STOP", process.handle());
    }

    /** Continues a process that has been suspended, and its descendants. */
    public void resume() throws IOException, InterruptedException {
        ProcessFamily.signal("CONT", process.handle());
    }

    /** Waits at most this long for the process to die, and returns whether it died. */
    public boolean diesWithin(Duration most) throws InterruptedException {
        return process.exitCodeWithin(most).isPresent();
    }

    /**
     * Kills the process now, regardless of its faults. The process has ended when this method returns, unless the
     * calling thread is interrupted.
     */
    @Override
    public void close() {
        process.kill();
    }
}
