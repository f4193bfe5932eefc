package dev.waymark.conversation.value;

import java.time.Instant;
import java.util.Objects;

/** A signal that a thread has ignored, and why. Longer names and reasons are cut. They quote the signal, which may be large. */
public record IgnoredSignal(String signal, String reason, Instant at) {
    private static final int MAX_LENGTH = 500;

    public IgnoredSignal {
        Objects.requireNonNull(at, "at");
        signal = Problem.cut(signal, MAX_LENGTH);
        reason = Problem.cut(reason, MAX_LENGTH);
    }
}
