package dev.waymark.starter.client;

import dev.waymark.history.Moment;

/** Whoever looks on while a thread goes on. */
@FunctionalInterface
public interface Watcher {
    /**
     * Something happened, and is in history.
     *
     * @return whether to go on watching
     */
    boolean happened(Moment moment);

    /**
     * A model is in the middle of a reply. What it said is nowhere but here until the reply is whole, and then it is told
     * again, as a moment.
     *
     * @return whether to go on watching
     */
    default boolean said(TextDelta words) {
        return true;
    }
}
