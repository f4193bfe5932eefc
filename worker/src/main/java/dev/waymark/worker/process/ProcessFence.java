package dev.waymark.worker.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The deadline of a program, enforced even if this JVM dies. Create it when the decision to run is made: if the worker
 * is suspended between the decision and the start, the program does not start late.
 *
 * <p>The deadline is a time of a clock that shells can read: {@code /proc/uptime}, which cannot be set and which
 * advances while the machine sleeps, or the wall clock if that file is missing.
 */
public final class ProcessFence {

    /** Whether the clock is {@code /proc/uptime}; otherwise the launcher is given a date command. */
    static final boolean HAS_UPTIME = Files.isReadable(Path.of("/proc/uptime"));

    private final Duration timeout;
    private final long deadline;

    private ProcessFence(Duration timeout, long deadline) {
        this.timeout = timeout;
        this.deadline = deadline;
    }

    /** A fence that starts now. */
    public static ProcessFence in(Duration timeout) {
        // The clock's last digit hides up to a hundredth of a second, so the deadline is rounded down.
        return new ProcessFence(timeout, now() + timeout.toMillis() / 10 - 1);
    }

    public Duration timeout() {
        return timeout;
    }

    /** The deadline in hundredths of a second of the fence's clock. */
    long deadline() {
        return deadline;
    }

    /** The time left; zero after the deadline. */
    public Duration left() {
        return Duration.ofMillis(Math.max(0, deadline - now()) * 10);
    }

    /** The time left, or this limit if it is shorter. */
    public Duration leftUpTo(Duration limit) {
        Duration left = left();
        return limit.compareTo(left) < 0 ? limit : left;
    }

    private static long now() {
        if (!HAS_UPTIME) {
            return System.currentTimeMillis() / 10;
        }
        try {
            String uptime = Files.readString(Path.of("/proc/uptime"));
            return Long.parseLong(uptime.substring(0, uptime.indexOf(' ')).replace(".", ""));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read /proc/uptime", e);
        }
    }
}
