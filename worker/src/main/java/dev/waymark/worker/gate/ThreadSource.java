package dev.waymark.worker.gate;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.ThreadHistory;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Where the gate reads threads from: a server, or files. */
public interface ThreadSource {
    /** What every thread is called in findings: its id, or the file that it is in. */
    List<String> names();

    /** The events of a thread; empty if it is gone. */
    Optional<ThreadHistory> read(String name);

    /** What the thread's running workflow says of itself, if it can be asked. */
    Optional<HistoryAudit.Live> live(String name);

    /**
     * At most this many of the names. The choice looks random, and is the same for the same names, so that a failure
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
