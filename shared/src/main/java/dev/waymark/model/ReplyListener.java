package dev.waymark.model;

import dev.waymark.conversation.value.Usage;

/**
 * Is told of a reply while it comes, in the thread that asked for it. What is told is for the eyes of whoever waits, and
 * for the bill of an attempt that comes to nothing: a reply counts once it is returned.
 */
@FunctionalInterface
public interface ReplyListener {
    /** Takes the next piece of the reply's text. In order, the pieces add up to it. */
    void words(String piece);

    /** Takes what the reply has cost so far, as soon as the provider says so. A later count replaces the one before. */
    default void usage(Usage soFar) {}
}
