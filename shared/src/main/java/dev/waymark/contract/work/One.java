package dev.waymark.contract.work;

import org.jspecify.annotations.Nullable;

/** A filter for fields that are omitted from payloads if they have the usual value: it equals the number 1. */
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
