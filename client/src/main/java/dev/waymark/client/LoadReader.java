package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.directory.WaitingThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ServerLoad;
import dev.waymark.conversation.decision.PendingItem;
import io.temporal.api.enums.v1.TaskQueueType;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Reads how much waits on a server, for graphs, alerts and autoscaling. Keep the object: it remembers since when threads
 * have waited. Thread-safe.
 */
public final class LoadReader {
    private final ClientContext context;
    private final WaitingThreads threads;

    LoadReader(ClientContext context) {
        this.context = context;
        this.threads = new WaitingThreads(context.directory());
    }

    /**
     * Reads the load. Takes two requests for the backlog, one for each 1,000 threads that wait for people, and usually
     * one history; at most 200 histories, if many threads have begun to wait since the last call. If there are more, the
     * age of the oldest request may be too low until a later call has read the rest.
     *
     * @throws WaymarkException if the server does not answer
     */
    public synchronized ServerLoad read() {
        return context.translated(() -> {
            Instant now = Instant.now();
            boolean isIndexed = context.directory().isIndexed();
            Map<PendingItem.Kind, Integer> waiting = isIndexed ? threads.count() : Map.of();
            Optional<Duration> oldest =
                    isIndexed ? threads.oldest(now).map(since -> Duration.between(since, now)) : Optional.empty();
            return new ServerLoad(
                    waiting,
                    oldest,
                    backlog(TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW),
                    backlog(TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY));
        });
    }

    private ServerLoad.Backlog backlog(TaskQueueType type) {
        Requests requests = context.requests();
        return context.connection().isInMemory() ? ServerLoad.Backlog.NONE : requests.backlog(type);
    }
}
