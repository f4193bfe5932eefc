package dev.waymark.bench;

import java.util.Locale;

/** What a worker does when it is killed. */
enum Interruption {
    MODEL("a model call", 8),
    SAFE_TOOL("a safe tool", 8),
    CLAIMED_TOOL("a claimed tool without a check", 6);

    private final String words;
    private final double mostSeconds;

    Interruption(String words, double mostSeconds) {
        this.words = words;
        this.mostSeconds = mostSeconds;
    }

    String words() {
        return words;
    }

    /** The bound for the median time to the next model call. */
    double mostSeconds() {
        return mostSeconds;
    }

    /** The agent whose threads are interrupted there. */
    String agent() {
        return name().toLowerCase(Locale.ROOT);
    }
}
