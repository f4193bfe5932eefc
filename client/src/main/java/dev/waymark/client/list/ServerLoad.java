package dev.waymark.client.list;

import dev.waymark.conversation.decision.PendingItem;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How much waits on a server: threads for people, and tasks for workers.
 *
 * @param waiting the number of open threads in which requests of this kind wait for people; a thread with requests of
 *     two kinds counts twice. Empty if threads have no search attributes
 * @param oldest how long the oldest of these requests has waited
 * @param workflowTasks the steps of threads that no worker has taken yet
 * @param activityTasks the model calls and tools that no worker has taken yet
 */
public record ServerLoad(
        Map<PendingItem.Kind, Integer> waiting,
        Optional<Duration> oldest,
        Backlog workflowTasks,
        Backlog activityTasks) {

    /** Tasks that no worker has taken, as far as the server knows, and the age of the oldest. */
    public record Backlog(long tasks, Duration age) {
        /** No tasks wait, or the server does not report them. */
        public static final Backlog NONE = new Backlog(0, Duration.ZERO);
    }

    public ServerLoad {
        waiting = Collections.unmodifiableMap(new LinkedHashMap<>(waiting));
    }
}
