package dev.waymark.conversation.state;

import dev.waymark.conversation.value.PersistentMap;
import java.util.Objects;
import java.util.Optional;

/**
 * The ids of received messages, so that a repeated delivery has no effect. At least the newest 1,000 are kept, at most
 * 2,000, in two generations: when the newer one is full, the older one is dropped.
 */
public record SeenIds(PersistentMap<Integer> young, PersistentMap<Integer> old) {
    public static final int GENERATION = 1_000;

    public static final SeenIds NOTHING = new SeenIds(PersistentMap.empty(), PersistentMap.empty());

    public SeenIds {
        Objects.requireNonNull(young, "young");
        Objects.requireNonNull(old, "old");
    }

    public boolean contains(String id) {
        return factOf(id).isPresent();
    }

    /** The number of the fact that the message with this id caused; empty if the id is not known. */
    public Optional<Integer> factOf(String id) {
        return young.get(id).or(() -> old.get(id));
    }

    /** Adds an id with the number of its fact. */
    public SeenIds with(String id, int fact) {
        return young.size() < GENERATION
                ? new SeenIds(young.with(id, fact), old)
                : new SeenIds(PersistentMap.<Integer>empty().with(id, fact), young);
    }
}
