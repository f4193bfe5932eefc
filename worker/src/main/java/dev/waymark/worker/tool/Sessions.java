package dev.waymark.worker.tool;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;

/** Kills sessions of processes, where {@code /proc} shows them: for when a launcher was killed and can't do it. */
final class Sessions {

    private static final Path PROC = Path.of("/proc");

    private Sessions() {}

    static void kill(Set<Long> sessions) {
        // Again, for what was just being forked.
        Patience.until(Duration.ofSeconds(1), () -> !killOnce(sessions));
    }

    /** Whether anything was still there. */
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
        try {
            String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
            // pid (name) state ppid pgrp session …, and the name may hold anything.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return !fields[0].equals("Z") && sessions.contains(Long.parseLong(fields[3]));
        } catch (IOException | IndexOutOfBoundsException e) {
            return false;
        }
    }
}
