package dev.waymark.client.list;

import java.util.List;

/** Receives the progress of reading many threads. */
@FunctionalInterface
public interface Progress {
    /** Ignores progress. */
    Progress NONE = (done, of) -> {};

    /** Ignores progress, and threads that cannot be read. */
    Progress LEAVING_OUT = new Progress() {
        @Override
        public void read(int done, int of) {}

        @Override
        public void leaveOut(List<String> threads, int of, RuntimeException problem) {}
    };

    /** Receives the number of threads read so far, and the total number. */
    void read(int done, int of);

    /**
     * Receives the threads that cannot be read, for example because they are encrypted with other keys. If this throws,
     * as it does by default, the list fails; otherwise the list omits them.
     *
     * @param of the total number of threads. If none of them can be read, a caller may prefer a failure to an empty
     * list
     * @param problem why the first of the threads cannot be read
     */
    default void leaveOut(List<String> threads, int of, RuntimeException problem) {
        throw problem;
    }
}
