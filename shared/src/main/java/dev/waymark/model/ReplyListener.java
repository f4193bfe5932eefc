package dev.waymark.model;

import dev.waymark.conversation.value.Usage;

/**
 * Receives a reply while it streams, in the Java thread that requested it. The partial text is for display, and the
 * usage is for the cost of a failed attempt; only the returned reply counts.
 */
@FunctionalInterface
public interface ReplyListener {
    /** Receives the next piece of the reply's text. */
    void words(String piece);

    /** Receives the next piece of the reasoning that the model shows. Passages are separated by a blank line. */
    default void reasoning(String piece) {}

    /**
     * Called when the reply begins, and when it grows by something that is not shown, such as the arguments of a call.
     * Not called for events that only keep the connection open. If no text, reasoning or progress arrives for longer
     * than the agent allows, the model counts as silent, and the Java thread that requested the reply is interrupted.
     */
    default void progress() {}

    /** Receives the usage so far; each report replaces the previous one. */
    default void usage(Usage soFar) {}
}
