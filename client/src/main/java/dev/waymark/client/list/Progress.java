package dev.waymark.client.list;

/** Receives the progress of reading many threads. */
@FunctionalInterface
public interface Progress {
    /** For callers that show no progress. */
    Progress NONE = (done, of) -> {};

    /** Receives how many of how many have been read. */
    void read(int done, int of);
}
