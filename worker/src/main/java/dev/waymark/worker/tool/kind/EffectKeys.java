package dev.waymark.worker.tool.kind;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Sent with the request of a tool: keys if it may take effect, so that the receiver can recognize repeats, and the span
 * of the call.
 *
 * @param idempotencyKey the same for every execution of a call whose outcome is unknown
 * @param fencingToken greater for every later execution
 * @param traceparent in the form of W3C Trace Context
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
