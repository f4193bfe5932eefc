package dev.waymark.contract;

import org.jspecify.annotations.Nullable;

/** Filters numbers that are 1 out of payloads: it equals what is not written. */
final class One {
    @Override
    public boolean equals(@Nullable Object value) {
        return Integer.valueOf(1).equals(value);
    }

    @Override
    public int hashCode() {
        return 1;
    }
}
