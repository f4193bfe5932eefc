package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An immutable list that grows at its end in constant time and shares everything before.
 *
 * <p>All versions of a conversation hold their own transcript; shared, they cost what was said once. Reading it from
 * the front costs one pass ({@link #toList}), which its readers pay anyway.
 */
public final class Chain<T> {
    private final @Nullable Chain<T> before;
    private final @Nullable T last;
    private final int size;

    private Chain(@Nullable Chain<T> before, @Nullable T last, int size) {
        this.before = before;
        this.last = last;
        this.size = size;
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public Chain(List<T> items) {
        Chain<T> grown = new Chain<>(null, null, 0);
        for (T item : items.subList(0, Math.max(0, items.size() - 1))) {
            grown = grown.plus(item);
        }
        this.before = items.isEmpty() ? null : grown;
        this.last = items.isEmpty() ? null : Objects.requireNonNull(items.get(items.size() - 1));
        this.size = items.size();
    }

    public static <T> Chain<T> empty() {
        return new Chain<>(null, null, 0);
    }

    public Chain<T> plus(T item) {
        return new Chain<>(this, Objects.requireNonNull(item), size + 1);
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public Optional<T> last() {
        return Optional.ofNullable(last);
    }

    @JsonValue
    public List<T> toList() {
        List<T> items = new ArrayList<>(size);
        for (Chain<T> at = this; at.before != null; at = at.before) {
            items.add(at.last);
        }
        Collections.reverse(items);
        return Collections.unmodifiableList(items);
    }

    /** The newest items, at most this many, oldest of them first. */
    public List<T> tail(int most) {
        List<T> items = new ArrayList<>();
        for (Chain<T> at = this; at.before != null && items.size() < most; at = at.before) {
            items.add(at.last);
        }
        Collections.reverse(items);
        return Collections.unmodifiableList(items);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof Chain<?> chain) || chain.size != size) {
            return false;
        }
        Chain<?> mine = this;
        Chain<?> theirs = chain;
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
