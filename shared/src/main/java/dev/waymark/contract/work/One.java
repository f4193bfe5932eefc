package dev.waymark.contract.work;

import org.jspecify.annotations.Nullable;

/** Equal to values that are omitted from payloads: the number 1. */
public final class One {
    @Override
    public boolean equals(@Nullable Object value) {
        return Integer.valueOf(1).equals(value);
    }

    @Override
    public int hashCode() {
        return 1;
    }
}
