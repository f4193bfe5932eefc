package dev.waymark.client.list;

import java.util.List;

/** Receives the progress of reading many threads. */
@FunctionalInterface
public interface Progress {
    /** For callers that show no progress. */
    Progress NONE = (done, of) -> {};

    /** Receives how many of how many have been read. */
    void read(int done, int of);

    /** Whether a list fails if nothing on it can be read. Not so for pages that are followed by others. */
    default boolean failsIfNothingIsReadable() {
        return true;
    }

    /**
     * Receives the threads that cannot be read, for example because they are encrypted with other keys, where others can
     * be. Unless this throws, as it does by default, the list is made without them.
     *
     * @param problem why the first of them cannot be read
     */
    default void leaveOut(List<String> threads, RuntimeException problem) {
        throw problem;
    }
}
