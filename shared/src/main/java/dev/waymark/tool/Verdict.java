package dev.waymark.tool;

import java.util.Objects;
import java.util.Optional;

/**
 * What could be found out about a call that was lost.
 *
 * @param landed whether it took effect, where that is known
 * @param result what the model is told of a call that did
 */
public record Verdict(Optional<Boolean> landed, Optional<String> result) {
    public Verdict {
        Objects.requireNonNull(landed, "landed");
        Objects.requireNonNull(result, "result");
    }

    /** It took effect, and this is its result. */
    public static Verdict landed(String result) {
        return new Verdict(Optional.of(true), Optional.of(result));
    }

    /** It has not taken effect. Where the tool says {@code verifyForbids}, it never will. */
    public static Verdict notLanded() {
        return new Verdict(Optional.of(false), Optional.empty());
    }

    public static Verdict unknown() {
        return new Verdict(Optional.empty(), Optional.empty());
    }
}
