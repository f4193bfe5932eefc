package dev.waymark.worker.workflow;

import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** A timer that wakes a thread at the earliest time that something in it waits for. */
final class WakeTimer {
    private final Runnable ring;
    private Optional<Instant> time = Optional.empty();
    private CancellationScope timer = Workflow.newCancellationScope(() -> {});

    /** @param ring called when a timer fires, even if nothing waits for that time any longer */
    WakeTimer(Runnable ring) {
        this.ring = ring;
    }

    /** Sets the time at which to wake the thread, or none. */
    void set(Optional<Instant> wanted, Instant now) {
        if (time.equals(wanted)) {
            return;
        }
        timer.cancel();
        time = wanted;
        wanted.ifPresent(at -> start(at, now));
    }

    private void start(Instant at, Instant now) {
        Duration wait = Duration.between(now, at);
        Duration atLeast = wait.compareTo(Duration.ofMillis(1)) < 0 ? Duration.ofMillis(1) : wait;
        timer = Workflow.newCancellationScope(() -> Workflow.newTimer(atLeast).handle((fired, cancelled) -> {
            if (cancelled == null) {
                time = Optional.empty();
                ring.run();
            }
            return null;
        }));
        timer.run();
    }
}
