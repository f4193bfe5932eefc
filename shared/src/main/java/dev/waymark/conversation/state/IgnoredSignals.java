package dev.waymark.conversation.state;

import dev.waymark.annotation.Internal;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The ignored signals: their number, and the newest {@value #KEPT}. */
public record IgnoredSignals(int count, List<Item> last) {
    static final int KEPT = 20;
    /** Longer names and reasons are cut. They quote the signal, which may be large. */
    static final int MAX_LENGTH = 500;

    @Internal
    public static final IgnoredSignals NOTHING = new IgnoredSignals(0, List.of());

    public IgnoredSignals {
        last = List.copyOf(last);
    }

    /** An ignored signal, with the reason. */
    public record Item(String signal, String reason, Instant at) {
        public Item {
            Objects.requireNonNull(at, "at");
            signal = Problem.cut(signal, MAX_LENGTH);
            reason = Problem.cut(reason, MAX_LENGTH);
        }
    }

    @Internal
    public IgnoredSignals plus(Item item) {
        List<Item> items = new ArrayList<>(last);
        items.add(item);
        return new IgnoredSignals(count + 1, items.subList(Math.max(0, items.size() - KEPT), items.size()));
    }
}
