package dev.waymark.worker.tool.kind;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keys sent with a request that may take effect, so that the receiver can recognize repeats.
 *
 * @param idempotencyKey the same for every execution of a call whose outcome is unknown
 * @param fencingToken greater for every later execution
 */
public record EffectKeys(Optional<String> idempotencyKey, OptionalLong fencingToken) {
    /** For requests that are safe to repeat. */
    public static final EffectKeys NONE = new EffectKeys(Optional.empty(), OptionalLong.empty());
}
