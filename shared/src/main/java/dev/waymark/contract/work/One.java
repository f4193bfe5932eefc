package dev.waymark.contract.work;

import org.jspecify.annotations.Nullable;

/** A Jackson filter that omits fields with the value 1, the usual value. Jackson compares values with this object. */
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
