package dev.waymark.worker.tool.kind;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Values that are sent with the request of a tool: the span of the call and, if the request may take effect, keys by
 * which the receiver can recognize repeats.
 *
 * @param idempotencyKey the same for all executions of one call
 * @param fencingToken greater for every later execution
 * @param traceparent the span of the call, in the format of W3C Trace Context
 */
public record EffectKeys(Optional<String> idempotencyKey, OptionalLong fencingToken, Optional<String> traceparent) {
    /** For requests that are safe to repeat. */
    public static final EffectKeys NONE = new EffectKeys(Optional.empty(), OptionalLong.empty());

    public EffectKeys(Optional<String> idempotencyKey, OptionalLong fencingToken) {
        this(idempotencyKey, fencingToken, Optional.empty());
    }

    /** Whether the request is safe to repeat. */
    public boolean isSafe() {
        return idempotencyKey.isEmpty();
    }
}
