package dev.waymark.worker.tool;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A program with all that it starts. Where there is {@code setsid}, it has a session of its own, so that what it leaves
 * behind can be found when its parent is gone; elsewhere only what still descends from it is found. Out of reach in both
 * cases: a process that put itself into another session and whose parent has ended.
 */
final class ProcessGroup {

    private static final Duration COURTESY = Duration.ofSeconds(1);
    private static final Path PROC = Path.of("/proc");
    private static final Optional<String> SETSID = onPath("setsid");

    private final Process process;

    private ProcessGroup(Process process) {
        this.process = process;
    }

    /** Starts what the builder says, in a group of its own. */
    static ProcessGroup start(ProcessBuilder builder) throws IOException {
        if (SETSID.isPresent()) {
            List<String> command = new ArrayList<>(builder.command());
            command.add(0, SETSID.get());
            builder.command(command);
        }
        return new ProcessGroup(builder.start());
    }

    Process process() {
        return process;
    }

    /** Ends all of it: politely, and after a second by force. Not interruptible. */
    void kill() {
        List<ProcessHandle> descendants = process.descendants().toList();
        signalGroup("TERM");
        descendants.forEach(ProcessHandle::destroy);
        process.destroy();
        uninterrupted(COURTESY, () -> !process.isAlive() && descendants.stream().noneMatch(ProcessHandle::isAlive));
        List<ProcessHandle> late = process.descendants().toList();
        killRemains();
        descendants.forEach(ProcessHandle::destroyForcibly);
        late.forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        uninterrupted(COURTESY, () -> !process.isAlive());
    }

    /** Ends what the program left behind in its session. The program itself has ended, or is ended now. */
    void killRemains() {
        boolean visible = Files.isDirectory(PROC);
        if (SETSID.isEmpty() || visible && !killSession()) {
            return;
        }
        signalGroup("KILL");
        // Whoever made a group of his own is still in the session. Again, for what was just being forked.
        for (int round = 0; round < 10 && visible && killSession(); round++) {
            uninterrupted(Duration.ofMillis(20), () -> false);
        }
    }

    private void signalGroup(String signal) {
        if (SETSID.isEmpty()) {
            return;
        }
        try {
            Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " -" + process.pid())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            uninterrupted(COURTESY, () -> !kill.isAlive());
        } catch (IOException e) {
            // The session and the descendants are signalled one by one as well.
        }
    }

    /** Whether anything of the session was still there. */
    private boolean killSession() {
        boolean found = false;
        try (Stream<Path> entries = Files.list(PROC)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                String name = entry.getFileName().toString();
                if (Character.isDigit(name.charAt(0)) && isOfSession(entry)) {
                    found |= ProcessHandle.of(Long.parseLong(name))
                            .map(ProcessHandle::destroyForcibly)
                            .orElse(false);
                }
            }
        } catch (IOException e) {
            return false;
        }
        return found;
    }

    private boolean isOfSession(Path entry) {
        try {
            String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
            // pid (name) state ppid pgrp session …, and the name may hold anything.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return !fields[0].equals("Z") && fields[3].equals(Long.toString(process.pid()));
        } catch (IOException | IndexOutOfBoundsException e) {
            return false;
        }
    }

    private static boolean uninterrupted(Duration most, BooleanSupplier condition) {
        boolean interrupted = false;
        long end = System.nanoTime() + most.toNanos();
        boolean met = condition.getAsBoolean();
        while (!met && System.nanoTime() < end) {
            try {
                TimeUnit.MILLISECONDS.sleep(2);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            met = condition.getAsBoolean();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return met;
    }

    private static Optional<String> onPath(String program) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
        return Stream.of(path.split(":"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }
}
