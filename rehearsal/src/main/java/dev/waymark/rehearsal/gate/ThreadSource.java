package dev.waymark.rehearsal.gate;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.ThreadHistory;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The source of the threads that a gate checks: a server, or files. */
public interface ThreadSource {
    /** Returns the names of the threads, by which findings refer to them: ids of threads, or names of files. */
    List<String> names();

    /** Returns the history of a thread; empty if the thread no longer exists. */
    Optional<ThreadHistory> read(String name);

    /** Returns the state that the thread's running workflow reports, if the workflow can be queried. */
    Optional<HistoryAudit.Live> live(String name);

    /** Returns the threads that are pinned to builds. Threads in files are not. */
    default PinnedThreads pinned() {
        return PinnedThreads.NONE;
    }

    /**
     * Chooses at most this many of the names. The choice looks random but depends only on the names, so that a failure
     * can be reproduced.
     */
    static List<String> sample(List<String> names, int most) {
        return names.stream()
                .sorted(Comparator.comparing(Sha256::hex))
                .limit(most)
                .sorted()
                .toList();
    }
}
