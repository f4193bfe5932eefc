package dev.waymark.worker.process;

import dev.waymark.connect.DaemonThreads;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A program behind its fence. The script {@code launcher.sh} starts the program. The launcher kills the program with
 * its whole session when the time is up or the lifeline closes. The lifeline is a pipe from this JVM, which also closes
 * if the JVM is killed. This class observes how the program ends, and cleans up if the launcher itself is killed.
 *
 * <p>A process that moved to another session and whose parent has ended escapes the fence.
 */
final class FencedProcess {

    /** Time that the launcher takes after the deadline: a second between SIGTERM and SIGKILL, and some slack. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private static final Duration LAST_REPORTS = Duration.ofSeconds(1);

    /** Longer than any line of a launcher. */
    private static final int LINE_BYTES = 64;

    private static final String SCRIPT = Shell.script(FencedProcess.class, "launcher.sh");

    private final OutputPipes pipes;
    private final Process shells;
    private final LauncherReports reports = new LauncherReports();
    private final Thread reporter;
    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile boolean fed;

    private FencedProcess(OutputPipes pipes, Process shells, byte[] line) {
        this.pipes = pipes;
        this.shells = shells;
        this.reporter = DaemonThreads.start("tool-launcher", () -> {
            feed(line);
            listen();
        });
        shells.onExit().thenRun(ended::countDown);
    }

    /**
     * Starts the launcher, which starts the program unless the deadline has passed.
     *
     * @param builder the program, its directory and its environment
     * @param line the program's stdin, with a line feed
     */
    static FencedProcess start(ProcessBuilder builder, byte[] line, ProcessFence fence, OutputPipes pipes)
            throws IOException {
        List<String> command = new ArrayList<>(Shell.inSession(SCRIPT));
        command.addAll(List.of(pipes.directory().toString(), Long.toString(fence.deadline()), Shell.SETSID.orElse("")));
        command.add(ProcessFence.HAS_UPTIME ? "" : Shell.program("date"));
        command.addAll(List.of(Shell.program("sleep"), Shell.program("rm")));
        command.addAll(builder.command());
        builder.command(command).redirectOutput(pipes.reportsFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
        Process shells = builder.start();
        pipes.launched();
        return new FencedProcess(pipes, shells, line);
    }

    /** Waits until the program has ended, or until three seconds after its deadline. Returns whether it has exited. */
    boolean await(ProcessFence fence) throws InterruptedException {
        ended.await(fence.left().plus(SLACK).toNanos(), TimeUnit.NANOSECONDS);
        if (!shells.isAlive()) {
            // The reporter may still be reading the last reports.
            reporter.join(LAST_REPORTS.toMillis());
        }
        return reports.haveExit();
    }

    /**
     * Sends SIGTERM to the session, which then has a second to end. Must be followed by {@link #end()}. Not
     * interruptible.
     */
    void stop() {
        if (fed) {
            try {
                OutputStream lifeline = shells.getOutputStream();
                lifeline.write('\n');
                lifeline.flush();
            } catch (IOException e) {
                // The launcher has just ended.
            }
            UninterruptedWait.until(SLACK, () -> !shells.isAlive());
        }
    }

    /** Kills the remaining processes of the session, and returns when they are gone. Not interruptible. */
    void end() {
        try {
            reports.giveUp();
            if (fed) {
                shells.getOutputStream().close();
            } else {
                // The program was not started, and closing would wait for the pending write.
                shells.destroyForcibly();
            }
        } catch (IOException e) {
            // The launcher has closed its end.
        }
        UninterruptedWait.until(SLACK, () -> !shells.isAlive());
        if (!UninterruptedWait.until(Duration.ofMillis(100), reports::areGone)) {
            force();
        }
        UninterruptedWait.until(LAST_REPORTS, () -> !reporter.isAlive());
    }

    private void force() {
        List<ProcessHandle> family = shells.descendants().toList();
        shells.destroyForcibly();
        family.forEach(ProcessHandle::destroyForcibly);
        if (Shell.SETSID.isPresent()) {
            // The launcher may have been killed before it reported the program's session.
            Set<Long> sessions = ProcessSessions.writingInto(pipes.directory());
            sessions.add(shells.pid());
            reports.session().ifPresent(sessions::add);
            ProcessSessions.kill(sessions);
        }
        UninterruptedWait.until(Duration.ofSeconds(1), () -> !shells.isAlive());
    }

    /** How the program ended. Call it after {@link #end()}. */
    CommandResult result(String program, ProcessFence fence, String stdout, String stderr) {
        return reports.result(program, fence.timeout(), stdout, stderr);
    }

    private void feed(byte[] line) {
        try {
            OutputStream lifeline = shells.getOutputStream();
            lifeline.write(reports.words().getBytes(StandardCharsets.US_ASCII));
            lifeline.write(line);
            lifeline.flush();
            fed = true;
        } catch (IOException e) {
            // The launcher reports what happened.
        }
    }

    /** Stops at a forged report, so that a program that floods the pipe cannot keep this JVM busy. */
    private void listen() {
        try (InputStream in = new BufferedInputStream(pipes.reports())) {
            Optional<String> line = next(in);
            while (line.isPresent() && reports.take(line.get())) {
                if (reports.session().isPresent()) {
                    pipes.release();
                }
                if (reports.haveEnd()) {
                    ended.countDown();
                }
                line = next(in);
            }
        } catch (IOException e) {
            // Treated like the end of the reports.
        } finally {
            ended.countDown();
        }
    }

    /** The next line, or the beginning of one that is too long; empty at the end. */
    private static Optional<String> next(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n' || line.length() == LINE_BYTES) {
                return Optional.of(line.toString());
            }
            line.append((char) b);
        }
        return Optional.empty();
    }
}
