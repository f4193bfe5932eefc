package dev.waymark.testkit.crash;

import java.time.Duration;
import java.util.Objects;

/**
 * Determines when a process dies: after it has passed a point for the {@code passing}-th time, and then a delay. The
 * string form of a fault, which {@link #parse} reads, can be passed to the process.
 */
public record Fault(CrashPoint point, int passing, Duration after) {
    public Fault {
        Objects.requireNonNull(point, "point");
        if (passing < 1 || after.isNegative()) {
            throw new IllegalArgumentException(
                    "passing must be at least 1 and after not negative, found " + passing + " and " + after);
        }
    }

    /** Returns a fault that fires immediately when the point is first passed. */
    public static Fault at(CrashPoint point) {
        return new Fault(point, 1, Duration.ZERO);
    }

    /** Returns this fault, except that it fires when the point is passed for the n-th time. */
    public Fault passing(int times) {
        return new Fault(point, times, after);
    }

    /** Returns this fault, except that it fires this long after the point is passed. */
    public Fault after(Duration delay) {
        return new Fault(point, passing, delay);
    }

    /** Parses the result of {@link #toString}. */
    public static Fault parse(String text) {
        String[] parts = text.split("/", 3);
        if (parts.length < 3) {
            throw new IllegalArgumentException("expected POINT/PASSING/DELAY, found " + text);
        }
        return new Fault(CrashPoint.valueOf(parts[0]), Integer.parseInt(parts[1]), Duration.parse(parts[2]));
    }

    @Override
    public String toString() {
        return point + "/" + passing + "/" + after;
    }
}
