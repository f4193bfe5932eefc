package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An immutable list. Appending an item takes constant time, and the new list shares all items of the old one.
 *
 * <p>Each version of a conversation has its own transcript. Because the transcripts share their items, together they
 * take little more memory than the newest one. Items are read in one pass ({@link #toList}), which all readers need
 * anyway.
 */
public final class PersistentList<T> {
    private final @Nullable PersistentList<T> before;
    private final @Nullable T last;
    private final int size;

    private PersistentList(@Nullable PersistentList<T> before, @Nullable T last, int size) {
        this.before = before;
        this.last = last;
        this.size = size;
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public PersistentList(List<T> items) {
        PersistentList<T> grown = new PersistentList<>(null, null, 0);
        for (T item : items.subList(0, Math.max(0, items.size() - 1))) {
            grown = grown.plus(item);
        }
        this.before = items.isEmpty() ? null : grown;
        this.last = items.isEmpty() ? null : Objects.requireNonNull(items.get(items.size() - 1));
        this.size = items.size();
    }

    /** A list without items. */
    public static <T> PersistentList<T> empty() {
        return new PersistentList<>(null, null, 0);
    }

    /** Returns the list with one more item at its end, in constant time. This list does not change. */
    public PersistentList<T> plus(T item) {
        return new PersistentList<>(this, Objects.requireNonNull(item), size + 1);
    }

    /** The number of items, in constant time. */
    public int size() {
        return size;
    }

    /** Whether there are no items. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** The newest item; empty if there are no items. */
    public Optional<T> last() {
        return Optional.ofNullable(last);
    }

    /** All items, in order. */
    @JsonValue
    public List<T> toList() {
        List<T> items = new ArrayList<>(size);
        for (PersistentList<T> at = this; at.before != null; at = at.before) {
            items.add(at.last);
        }
        Collections.reverse(items);
        return Collections.unmodifiableList(items);
    }

    /** The newest items, at most this many, in order. */
    public List<T> tail(int most) {
        List<T> items = new ArrayList<>();
        for (PersistentList<T> at = this; at.before != null && items.size() < most; at = at.before) {
            items.add(at.last);
        }
        Collections.reverse(items);
        return Collections.unmodifiableList(items);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof PersistentList<?> chain) || chain.size != size) {
            return false;
        }
        PersistentList<?> mine = this;
        PersistentList<?> theirs = chain;
        while (mine != theirs && mine.before != null && theirs.before != null) {
            if (!Objects.equals(mine.last, theirs.last)) {
                return false;
            }
            mine = mine.before;
            theirs = theirs.before;
        }
        return true;
    }

    @Override
    public int hashCode() {
        return 31 * size + Objects.hashCode(last);
    }

    @Override
    public String toString() {
        return toList().toString();
    }
}
