package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Limits the number of open streams, for each caller and in total. Thread-safe. */
final class StreamSlots {
    private final int mostForOne;
    private final int most;
    private final Map<String, Integer> counts = new HashMap<>();
    private final Set<StreamWriter> open = new HashSet<>();
    private boolean draining;

    StreamSlots(int mostForOne, int most) {
        this.mostForOne = mostForOne;
        this.most = most;
    }

    /**
     * Reserves a slot for a stream of this caller.
     *
     * @throws HttpProblem at the limit, or while draining
     */
    synchronized void take(String caller) {
        if (draining) {
            throw HttpProblem.draining();
        }
        int count = counts.getOrDefault(caller, 0);
        if (count >= mostForOne
                || counts.values().stream().mapToInt(Integer::intValue).sum() >= most) {
            throw HttpProblem.of(429, ProblemType.TOO_MANY_STREAMS, "too many open streams")
                    .withHeader("Retry-After", "5");
        }
        counts.put(caller, count + 1);
    }

    synchronized void give(String caller) {
        counts.computeIfPresent(caller, (name, count) -> count == 1 ? null : count - 1);
    }

    synchronized void begin(StreamWriter stream) {
        open.add(stream);
        if (draining) {
            stream.end();
        }
    }

    synchronized void over(StreamWriter stream) {
        open.remove(stream);
    }

    /** Ends all streams, so that clients reconnect to another instance. */
    synchronized void drain() {
        draining = true;
        Set.copyOf(open).forEach(StreamWriter::end);
    }

    synchronized int count() {
        return open.size();
    }
}
