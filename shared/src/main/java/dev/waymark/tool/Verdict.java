package dev.waymark.tool;

import java.util.Objects;
import java.util.Optional;

/**
 * The result of checking a lost call.
 *
 * @param landed whether the call took effect, if that is known
 * @param result the call's result for the model, if it took effect
 */
public record Verdict(Optional<Boolean> landed, Optional<String> result) {
    public Verdict {
        Objects.requireNonNull(landed, "landed");
        Objects.requireNonNull(result, "result");
    }

    /** The call took effect, with this result. */
    public static Verdict landed(String result) {
        return new Verdict(Optional.of(true), Optional.of(result));
    }

    /** The call did not take effect. If the tool declares {@code verifyForbids}, it never will. */
    public static Verdict notLanded() {
        return new Verdict(Optional.of(false), Optional.empty());
    }

    /** It is unknown whether the call took effect. */
    public static Verdict unknown() {
        return new Verdict(Optional.empty(), Optional.empty());
    }
}
