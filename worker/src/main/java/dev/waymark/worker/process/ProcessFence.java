package dev.waymark.worker.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * When a program has to be dead, whatever becomes of this JVM. Take it when the decision to run falls: a worker that is
 * stopped between this and the start then starts nothing when it goes on.
 *
 * <p>Its clock is one that shells can read as well: {@code /proc/uptime}, which nobody sets and which goes on while the
 * machine sleeps, or the time of day where there is none.
 */
public final class ProcessFence {

    /** In the launcher's language: no command for it means {@code /proc/uptime}. */
    static final boolean HAS_UPTIME = Files.isReadable(Path.of("/proc/uptime"));

    private final Duration timeout;
    private final long deadline;

    private ProcessFence(Duration timeout, long deadline) {
        this.timeout = timeout;
        this.deadline = deadline;
    }

    /** From now on. */
    public static ProcessFence in(Duration timeout) {
        // The clock's last digit hides up to a hundredth: too early is safe.
        return new ProcessFence(timeout, now() + timeout.toMillis() / 10 - 1);
    }

    public Duration timeout() {
        return timeout;
    }

    /** In hundredths of a second of the clock. */
    long deadline() {
        return deadline;
    }

    /** Nothing when it has passed. */
    public Duration left() {
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
