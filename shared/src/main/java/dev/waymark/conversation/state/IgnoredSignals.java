package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The ignored signals: their number, and the newest {@value #KEPT}. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record IgnoredSignals(
        @JsonProperty("count") int count,
        @JsonProperty("last") List<Item> last) {
    static final int KEPT = 20;
    /** Longer names and reasons are cut. They quote what arrived, which may be large. */
    static final int MAX_LENGTH = 500;

    public static final IgnoredSignals NOTHING = new IgnoredSignals(0, List.of());

    @JsonCreator
    public IgnoredSignals {
        last = List.copyOf(last);
    }

    /** An ignored signal, with the reason. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Item(
            @JsonProperty("signal") String signal,
            @JsonProperty("reason") String reason,
            @JsonProperty("at") Instant at) {
        @JsonCreator
        public Item {
            Objects.requireNonNull(at, "at");
            signal = Problem.cut(signal, MAX_LENGTH);
            reason = Problem.cut(reason, MAX_LENGTH);
        }
    }

    public IgnoredSignals plus(Item item) {
        List<Item> items = new ArrayList<>(last);
        items.add(item);
        return new IgnoredSignals(count + 1, items.subList(Math.max(0, items.size() - KEPT), items.size()));
    }
}
