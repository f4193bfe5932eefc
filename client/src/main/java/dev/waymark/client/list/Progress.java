package dev.waymark.client.list;

import java.util.List;

/** Receives the progress of reading many threads. */
@FunctionalInterface
public interface Progress {
    /** For callers that show no progress. */
    Progress NONE = (done, of) -> {};

    /** Receives how many of how many have been read. */
    void read(int done, int of);

    /**
     * Receives the threads that cannot be read, for example because they are encrypted with other keys. Unless this
     * throws, as it does by default, the list is made without them.
     *
     * @param of how many threads were to be read; if none can be, a caller may prefer a failure to an empty list
     * @param problem why the first of them cannot be read
     */
    default void leaveOut(List<String> threads, int of, RuntimeException problem) {
        throw problem;
    }
}
