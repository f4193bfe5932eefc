package dev.waymark.model;

import dev.waymark.conversation.value.Usage;

/**
 * Receives a reply while it streams, in the thread that requested it. The partial text is for display, and the usage
 * for the cost of an attempt that fails; only the returned reply counts.
 */
@FunctionalInterface
public interface ReplyListener {
    /** Receives the next piece of the reply's text. */
    void words(String piece);

    /** Receives the usage so far; each report replaces the one before. */
    default void usage(Usage soFar) {}
}
