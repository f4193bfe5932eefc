package dev.waymark.worker.tool.kind;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What goes with a request that may take effect, so that the other side can tell it from others.
 *
 * @param idempotencyKey the same for every execution of a call whose outcome is unknown
 * @param fencingToken greater for every later execution
 */
public record EffectKeys(Optional<String> idempotencyKey, OptionalLong fencingToken) {
    /** Of a request that is safe to repeat. */
    public static final EffectKeys NONE = new EffectKeys(Optional.empty(), OptionalLong.empty());
}
