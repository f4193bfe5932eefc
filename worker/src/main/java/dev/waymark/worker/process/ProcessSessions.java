package dev.waymark.worker.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Kills process sessions after their launcher was killed, on systems with {@code /proc}. */
final class ProcessSessions {

    private static final Path PROC = Path.of("/proc");

    private ProcessSessions() {}

    /** The sessions of processes whose stdout or stderr is in this directory. */
    static Set<Long> writingInto(Path directory) {
        Set<Long> sessions = new HashSet<>();
        try (Stream<Path> entries = Files.list(PROC)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                if (Character.isDigit(entry.getFileName().toString().charAt(0)) && writesInto(directory, entry)) {
                    session(entry).ifPresent(sessions::add);
                }
            }
        } catch (IOException e) {
            // Uses the sessions that were found so far.
        }
        return sessions;
    }

    private static boolean writesInto(Path directory, Path entry) {
        for (String descriptor : List.of("fd/1", "fd/2")) {
            try {
                if (Files.readSymbolicLink(entry.resolve(descriptor)).startsWith(directory)) {
                    return true;
                }
            } catch (IOException e) {
                // The process has ended, has closed the file, or belongs to another user.
            }
        }
        return false;
    }

    static void kill(Set<Long> sessions) {
        // Repeats, because a process may have started another one before it was killed.
        UninterruptedWait.until(Duration.ofSeconds(1), () -> !killOnce(sessions));
    }

    /** Kills all processes of these sessions that are found now. Returns whether there were any. */
    private static boolean killOnce(Set<Long> sessions) {
        boolean found = false;
        try (Stream<Path> entries = Files.list(PROC)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                String name = entry.getFileName().toString();
                if (Character.isDigit(name.charAt(0)) && isOf(sessions, entry)) {
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

    private static boolean isOf(Set<Long> sessions, Path entry) {
        return session(entry).filter(sessions::contains).isPresent();
    }

    /** The session of a process; empty if the process has ended. */
    private static Optional<Long> session(Path entry) {
        try {
            String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
            // Format: pid (name) state ppid pgrp session …; the name may contain anything.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return fields[0].equals("Z") ? Optional.empty() : Optional.of(Long.parseLong(fields[3]));
        } catch (IOException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
