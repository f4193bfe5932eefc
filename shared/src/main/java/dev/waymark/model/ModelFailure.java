package dev.waymark.model;

import java.time.Duration;
import java.util.Optional;

/**
 * A failed model call: the provider's message, and whether a retry may help. The type is stored in histories, so a
 * provider must never change the type of a problem.
 */
public final class ModelFailure extends Exception {

    private final String type;
    private final boolean retryable;
    private final Optional<Duration> retryAfter;

    private ModelFailure(String type, String message, boolean retryable, Optional<Duration> retryAfter) {
        super(message);
        this.type = type;
        this.retryable = retryable;
        this.retryAfter = retryAfter;
    }

    /** A failure that a retry would repeat, such as a bad key, a bad request or no credit. */
    public static ModelFailure permanent(String type, String message) {
        return new ModelFailure(type, message, false, Optional.empty());
    }

    /** A failure for which a retry may help, such as overload, a rate limit or a broken connection. */
    public static ModelFailure passing(String type, String message) {
        return new ModelFailure(type, message, true, Optional.empty());
    }

    /** Like {@link #passing}, with the delay that the provider requested. */
    public static ModelFailure passing(String type, String message, Duration retryAfter) {
        return new ModelFailure(type, message, true, Optional.of(retryAfter));
    }

    /** The type of the problem, as histories store it. */
    public String type() {
        return type;
    }

    /** Whether a retry may help. */
    public boolean retryable() {
        return retryable;
    }

    /** The delay before a retry that the provider requested, if any. */
    public Optional<Duration> retryAfter() {
        return retryAfter;
    }
}
