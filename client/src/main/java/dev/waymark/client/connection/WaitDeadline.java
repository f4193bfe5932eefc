package dev.waymark.client.connection;

import java.time.Duration;
import java.util.Optional;

/** A deadline on the monotonic clock, or none at all. */
public final class WaitDeadline {
    private static final long NEVER_MILLIS = Long.MAX_VALUE / 4;

    private final boolean never;
    private final long nanos;

    private WaitDeadline(boolean never, long nanos) {
        this.never = never;
        this.nanos = nanos;
    }

    public static WaitDeadline after(Optional<Duration> wait) {
        return wait.map(WaitDeadline::after).orElseGet(() -> new WaitDeadline(true, 0));
    }

    public static WaitDeadline after(Duration wait) {
        Duration sane = wait.compareTo(Duration.ofDays(3_650)) > 0 ? Duration.ofDays(3_650) : wait;
        return new WaitDeadline(false, System.nanoTime() + sane.toNanos());
    }

    public long millisLeft() {
        return never ? NEVER_MILLIS : Math.max(0, (nanos - System.nanoTime()) / 1_000_000);
    }

    public boolean isPast() {
        return !never && System.nanoTime() - nanos >= 0;
    }

    public WaitDeadline orSooner(Duration wait) {
        WaitDeadline other = after(wait);
        return other.millisLeft() < millisLeft() ? other : this;
    }
}
