package dev.waymark.tool;

import java.util.Objects;
import java.util.Optional;

/**
 * The result of a tool's check of whether a lost call took effect.
 *
 * @param landed whether the call took effect, if that is known
 * @param result the call's result for the model, if it took effect
 */
public record VerifyResult(Optional<Boolean> landed, Optional<String> result) {
    public VerifyResult {
        Objects.requireNonNull(landed, "landed");
        Objects.requireNonNull(result, "result");
    }

    /** Reports that the call took effect and had this result. */
    public static VerifyResult landed(String result) {
        return new VerifyResult(Optional.of(true), Optional.of(result));
    }

    /** Reports that the call did not take effect. If the tool declares {@code verifyForbids}, the call never will. */
    public static VerifyResult notLanded() {
        return new VerifyResult(Optional.of(false), Optional.empty());
    }

    /** Reports that the check could not find out whether the call took effect. */
    public static VerifyResult unknown() {
        return new VerifyResult(Optional.empty(), Optional.empty());
    }
}
