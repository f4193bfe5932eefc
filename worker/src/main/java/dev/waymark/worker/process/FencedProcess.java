package dev.waymark.worker.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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

    private static final String SCRIPT = Shell.script(FencedProcess.class, "launcher.sh");

    private final OutputPipes pipes;
    private final Process shells;
    private final Thread reporter;
    private final CountDownLatch ended = new CountDownLatch(1);

    private boolean fed;
    private boolean givenUp;
    private boolean late;
    private boolean unstarted;
    private boolean timedOut;
    private boolean gone;
    private Optional<Long> session = Optional.empty();
    private Optional<Integer> exitCode = Optional.empty();

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
        command.addAll(List.of(Shell.program("sleep"), Shell.program("sed"), Shell.program("rm")));
        command.addAll(builder.command());
        builder.command(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        return new FencedProcess(pipes, builder.start(), line);
    }

    /** Waits until the program has ended, or until three seconds after its deadline. Returns whether it has exited. */
    boolean await(ProcessFence fence) throws InterruptedException {
        ended.await(fence.left().plus(SLACK).toNanos(), TimeUnit.NANOSECONDS);
        if (!shells.isAlive()) {
            // The reporter may still be reading the last reports.
            reporter.join(LAST_REPORTS.toMillis());
        }
        return hasExited();
    }

    /**
     * Sends SIGTERM to the session, which then has a second to end. Must be followed by {@link #end()}. Not
     * interruptible.
     */
    void stop() {
        if (isFed()) {
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
            giveUp();
            if (isFed()) {
                shells.getOutputStream().close();
            } else {
                // The program was not started, and closing would wait for the pending write.
                shells.destroyForcibly();
            }
        } catch (IOException e) {
            // The launcher has closed its end.
        }
        UninterruptedWait.until(SLACK, () -> !shells.isAlive());
        if (!UninterruptedWait.until(Duration.ofMillis(100), this::isGone)) {
            force();
        }
        UninterruptedWait.until(LAST_REPORTS, () -> !reporter.isAlive());
        pipes.close();
    }

    private void force() {
        List<ProcessHandle> family = shells.descendants().toList();
        shells.destroyForcibly();
        family.forEach(ProcessHandle::destroyForcibly);
        if (Shell.SETSID.isPresent()) {
            // The launcher may have been killed before it reported the program's session.
            Set<Long> sessions = ProcessSessions.writingInto(pipes.directory());
            sessions.add(shells.pid());
            session().ifPresent(sessions::add);
            ProcessSessions.kill(sessions);
        }
        UninterruptedWait.until(Duration.ofSeconds(1), () -> !shells.isAlive());
    }

    /** How the program ended. Call it after {@link #end()}. */
    synchronized CommandResult result(String program, ProcessFence fence, String stdout, String stderr) {
        if (late) {
            return new CommandResult.NotStarted(program + " was not started in time", true);
        }
        if (unstarted) {
            return new CommandResult.NotStarted("cannot start " + program, false);
        }
        if (timedOut) {
            return new CommandResult.Killed("timed out after " + words(fence.timeout()) + " and was killed", stderr);
        }
        return exitCode.<CommandResult>map(code -> new CommandResult.Exited(code, stdout, stderr))
                .orElseGet(() -> new CommandResult.Killed("it was killed because its launcher was killed", stderr));
    }

    private synchronized boolean hasExited() {
        return exitCode.isPresent();
    }

    /** A program whose exit is reported after this call counts as killed. */
    private synchronized void giveUp() {
        givenUp = true;
    }

    private synchronized boolean isFed() {
        return fed;
    }

    private synchronized boolean isGone() {
        return gone;
    }

    private synchronized Optional<Long> session() {
        return session;
    }

    private void feed(byte[] line) {
        try {
            OutputStream lifeline = shells.getOutputStream();
            lifeline.write(line);
            lifeline.flush();
            synchronized (this) {
                fed = true;
            }
        } catch (IOException e) {
            // The launcher reports what happened.
        }
    }

    private void listen() {
        try (BufferedReader reports =
                new BufferedReader(new InputStreamReader(shells.getInputStream(), StandardCharsets.US_ASCII))) {
            for (String line = reports.readLine(); line != null; line = reports.readLine()) {
                note(line);
            }
        } catch (IOException e) {
            // Treated like the end of the reports.
        } finally {
            ended.countDown();
        }
    }

    private synchronized void note(String line) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "start" -> {
                session = Optional.of(Long.parseLong(words[1]));
                pipes.release();
            }
            case "late" -> late = true;
            case "unstarted" -> unstarted = true;
            // If the program exited first, the timeout only ended the processes that it left behind.
            case "timeout" -> timedOut = exitCode.isEmpty();
            case "exit" -> exitCode = givenUp ? Optional.empty() : Optional.of(Integer.parseInt(words[1]));
            case "gone" -> gone = true;
            default -> throw new IllegalStateException("the launcher says " + line);
        }
        if (late || unstarted || exitCode.isPresent()) {
            ended.countDown();
        }
    }

    private static String words(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
    }
}
