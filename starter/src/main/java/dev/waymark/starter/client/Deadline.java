package dev.waymark.starter.client;

import java.time.Duration;
import java.util.Optional;

/** A point in time on the clock that never jumps, or none at all. */
final class Deadline {
    private static final long NEVER_MILLIS = Long.MAX_VALUE / 4;

    private final boolean never;
    private final long nanos;

    private Deadline(boolean never, long nanos) {
        this.never = never;
        this.nanos = nanos;
    }

    static Deadline after(Optional<Duration> wait) {
        return wait.map(Deadline::after).orElseGet(() -> new Deadline(true, 0));
    }

    static Deadline after(Duration wait) {
        Duration sane = wait.compareTo(Duration.ofDays(3_650)) > 0 ? Duration.ofDays(3_650) : wait;
        return new Deadline(false, System.nanoTime() + sane.toNanos());
    }

    long millisLeft() {
        return never ? NEVER_MILLIS : Math.max(0, (nanos - System.nanoTime()) / 1_000_000);
    }

    boolean isPast() {
        return !never && System.nanoTime() - nanos >= 0;
    }

    Deadline orSooner(Duration wait) {
        Deadline other = after(wait);
        return other.millisLeft() < millisLeft() ? other : this;
    }
}
