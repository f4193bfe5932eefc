package dev.waymark.conversation.state;

import dev.waymark.conversation.value.IgnoredSignal;
import java.util.ArrayList;
import java.util.List;

/** The ignored signals: their number, and the newest {@value #KEPT}. */
public record IgnoredSignals(int count, List<IgnoredSignal> last) {
    static final int KEPT = 20;

    public static final IgnoredSignals NOTHING = new IgnoredSignals(0, List.of());

    public IgnoredSignals {
        last = List.copyOf(last);
    }

    public IgnoredSignals plus(IgnoredSignal item) {
        List<IgnoredSignal> items = new ArrayList<>(last);
        items.add(item);
        return new IgnoredSignals(count + 1, items.subList(Math.max(0, items.size() - KEPT), items.size()));
    }
}
