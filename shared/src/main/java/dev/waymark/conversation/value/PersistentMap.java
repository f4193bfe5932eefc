package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An immutable map with text keys, ordered by key. A changed map shares all but one path with the map that it was
 * created from.
 *
 * <p>A balanced (AVL) tree: every read and every change takes logarithmic time.
 */
public final class PersistentMap<V> {
    private final @Nullable Node<V> root;
    private final int size;

    private PersistentMap(@Nullable Node<V> root, int size) {
        this.root = root;
        this.size = size;
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public PersistentMap(Map<String, V> entries) {
        PersistentMap<V> grown = empty();
        for (Map.Entry<String, V> entry : entries.entrySet()) {
            grown = grown.with(entry.getKey(), entry.getValue());
        }
        this.root = grown.root;
        this.size = grown.size;
    }

    /** A map without keys. */
    public static <V> PersistentMap<V> empty() {
        return new PersistentMap<>(null, 0);
    }

    /** The number of keys, in constant time. */
    public int size() {
        return size;
    }

    /** Whether the key has a value. */
    public boolean contains(String key) {
        return get(key).isPresent();
    }

    /** The value of the key; empty if the map does not have the key. */
    public Optional<V> get(String key) {
        Node<V> at = root;
        while (at != null) {
            int order = key.compareTo(at.key);
            if (order == 0) {
                return Optional.of(at.value);
            }
            at = order < 0 ? at.left : at.right;
        }
        return Optional.empty();
    }

    /** Returns a map in which the key has this value. This map does not change. */
    public PersistentMap<V> with(String key, V value) {
        return new PersistentMap<>(put(root, key, Objects.requireNonNull(value)), contains(key) ? size : size + 1);
    }

    /** Returns a map without this key. This map does not change. */
    public PersistentMap<V> without(String key) {
        return contains(key) ? new PersistentMap<>(removed(root, key), size - 1) : this;
    }

    /** Visits all entries, in the order of their keys. */
    public void forEach(BiConsumer<String, V> visitor) {
        visit(root, visitor);
    }

    /** A copy of all entries, in the order of their keys. */
    @JsonValue
    public Map<String, V> toMap() {
        Map<String, V> map = new LinkedHashMap<>();
        forEach(map::put);
        return Collections.unmodifiableMap(map);
    }

    private static <V> void visit(@Nullable Node<V> node, BiConsumer<String, V> visitor) {
        if (node != null) {
            visit(node.left, visitor);
            visitor.accept(node.key, node.value);
            visit(node.right, visitor);
        }
    }

    private static <V> Node<V> put(@Nullable Node<V> node, String key, V value) {
        if (node == null) {
            return new Node<>(key, value, null, null);
        }
        int order = key.compareTo(node.key);
        if (order == 0) {
            return new Node<>(key, value, node.left, node.right);
        }
        return order < 0
                ? balance(node.key, node.value, put(node.left, key, value), node.right)
                : balance(node.key, node.value, node.left, put(node.right, key, value));
    }

    private static <V> @Nullable Node<V> removed(@Nullable Node<V> node, String key) {
        if (node == null) {
            return null;
        }
        int order = key.compareTo(node.key);
        if (order < 0) {
            return balance(node.key, node.value, removed(node.left, key), node.right);
        }
        if (order > 0) {
            return balance(node.key, node.value, node.left, removed(node.right, key));
        }
        if (node.left == null || node.right == null) {
            return node.left == null ? node.right : node.left;
        }
        Node<V> next = first(node.right);
        return balance(next.key, next.value, node.left, removed(node.right, next.key));
    }

    private static <V> Node<V> first(Node<V> node) {
        Node<V> at = node;
        while (at.left != null) {
            at = at.left;
        }
        return at;
    }

    private static <V> Node<V> balance(String key, V value, @Nullable Node<V> left, @Nullable Node<V> right) {
        if (height(left) > height(right) + 1 && left != null) {
            if (height(left.right) > height(left.left) && left.right != null) {
                Node<V> middle = left.right;
                return new Node<>(
                        middle.key,
                        middle.value,
                        new Node<>(left.key, left.value, left.left, middle.left),
                        new Node<>(key, value, middle.right, right));
            }
            return new Node<>(left.key, left.value, left.left, new Node<>(key, value, left.right, right));
        }
        if (height(right) > height(left) + 1 && right != null) {
            if (height(right.left) > height(right.right) && right.left != null) {
                Node<V> middle = right.left;
                return new Node<>(
                        middle.key,
                        middle.value,
                        new Node<>(key, value, left, middle.left),
                        new Node<>(right.key, right.value, middle.right, right.right));
            }
            return new Node<>(right.key, right.value, new Node<>(key, value, left, right.left), right.right);
        }
        return new Node<>(key, value, left, right);
    }

    private static int height(@Nullable Node<?> node) {
        return node == null ? 0 : node.height;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PersistentMap<?> index
                && index.size == size
                && (index.root == root || index.toMap().equals(toMap()));
    }

    @Override
    public int hashCode() {
        return size;
    }

    @Override
    public String toString() {
        return toMap().toString();
    }

    private static final class Node<V> {
        private final String key;
        private final V value;
        private final @Nullable Node<V> left;
        private final @Nullable Node<V> right;
        private final int height;

        Node(String key, V value, @Nullable Node<V> left, @Nullable Node<V> right) {
            this.key = key;
            this.value = value;
            this.left = left;
            this.right = right;
            this.height = 1 + Math.max(height(left), height(right));
        }
    }
}
