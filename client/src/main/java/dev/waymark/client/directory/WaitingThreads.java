package dev.waymark.client.directory;

import dev.waymark.client.list.Progress;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.decision.PendingItem;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Counts the threads that wait for people, and finds the oldest request, without reading all histories each time.
 *
 * <p>The server's list does not say since when a thread has waited. A time that was read once is never too late
 * afterwards, because later requests of the thread are younger. So it is enough to read the thread again that seems to
 * have waited longest.
 */
public final class WaitingThreads {
    private static final int MOST_READ = 100;

    private final ThreadDirectory directory;

    /** In the order in which the threads started. */
    private final Map<String, ThreadDirectory.Listed> waiting = new LinkedHashMap<>();

    private final Map<String, Instant> since = new HashMap<>();

    public WaitingThreads(ThreadDirectory directory) {
        this.directory = directory;
    }

    /** Reads the list, and counts the threads in which requests of each kind wait. Needs search attributes. */
    public Map<PendingItem.Kind, Integer> count() {
        Map<PendingItem.Kind, Integer> counts = new EnumMap<>(PendingItem.Kind.class);
        for (PendingItem.Kind kind : PendingItem.Kind.values()) {
            counts.put(kind, 0);
        }
        waiting.clear();
        for (WorkflowExecutionInfo info : directory.waiting()) {
            ThreadDirectory.Listed listed = ThreadDirectory.listed(info);
            List<String> kinds = ThreadIndex.in(info.getSearchAttributes())
                    .map(ThreadIndex::waitingFor)
                    .orElse(List.of());
            if (waiting.put(listed.thread(), listed) == null) {
                counts.replaceAll((kind, count) -> kinds.contains(kind.wireName()) ? count + 1 : count);
            }
        }
        since.keySet().retainAll(waiting.keySet());
        return counts;
    }

    /**
     * Since when the oldest request of the counted threads has waited. Reads up to 200 histories; if more threads have
     * begun to wait, one of the others may have an older request.
     */
    public Optional<Instant> oldest(Instant now) {
        read(
                waiting.values().stream()
                        .filter(listed -> !since.containsKey(listed.thread()))
                        .limit(MOST_READ)
                        .toList(),
                now);
        for (int i = 0; i < MOST_READ && !since.isEmpty(); i++) {
            Map.Entry<String, Instant> first = Map.copyOf(since).entrySet().stream()
                    .min(Map.Entry.comparingByValue())
                    .orElseThrow();
            read(List.of(waiting.get(first.getKey())), now);
            if (first.getValue().equals(since.get(first.getKey()))) {
                break;
            }
        }
        return since.values().stream().min(Comparator.naturalOrder());
    }

    /** A thread that cannot be read, or that has stopped waiting, counts as waiting since now. */
    private void read(Collection<ThreadDirectory.Listed> threads, Instant now) {
        threads.forEach(listed -> since.put(listed.thread(), now));
        directory
                .project(
                        threads,
                        Progress.LEAVING_OUT,
                        (listed, run) -> run.expectedState()
                                .flatMap(state -> state.asks().stream()
                                        .map(PendingItem::since)
                                        .min(Comparator.naturalOrder()))
                                .map(time -> Map.entry(listed.thread(), time)))
                .forEach(read -> since.put(read.getKey(), read.getValue()));
    }
}
