package dev.waymark.contract.work;

import org.jspecify.annotations.Nullable;

/** A filter that omits fields with the usual value, the number 1, from payloads: it equals that value. */
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
