package dev.waymark.worker.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * When a program has to be dead, whatever becomes of this JVM, on a clock that shells can read as well:
 * {@code /proc/uptime}, which nobody sets and which goes on while the machine sleeps, or the time of day where there is
 * none.
 */
final class Fence {

    static final boolean HAS_UPTIME = Files.isReadable(Path.of("/proc/uptime"));

    private final long deadline;

    private Fence(long deadline) {
        this.deadline = deadline;
    }

    static Fence at(Instant deadline) {
        // In this order: who is stopped in between sets it too early, and that is safe, as is what is rounded here. The
        // clock's last digit hides up to a hundredth.
        long now = now();
        return new Fence(now + Duration.between(Instant.now(), deadline).toMillis() / 10 - 1);
    }

    /** In hundredths of a second of the clock. */
    long deadline() {
        return deadline;
    }

    /** Nothing when it has passed. */
    Duration left() {
        return Duration.ofMillis(Math.max(0, deadline - now()) * 10);
    }

    private static long now() {
        if (!HAS_UPTIME) {
            return System.currentTimeMillis() / 10;
        }
        try {
            String uptime = Files.readString(Path.of("/proc/uptime"));
            return Long.parseLong(uptime.substring(0, uptime.indexOf(' ')).replace(".", ""));
        } catch (IOException e) {
            throw new IllegalStateException("/proc/uptime was readable before", e);
        }
    }
}
