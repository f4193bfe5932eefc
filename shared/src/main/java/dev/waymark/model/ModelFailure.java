package dev.waymark.model;

import java.time.Duration;
import java.util.Optional;

/**
 * No reply: the provider's words, and whether asking again may help. The type is stored in histories as the failure's
 * type, so a provider gives the same problem the same type for ever.
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

    /** Asking again would end the same way: a bad key, a bad request, no credit. */
    public static ModelFailure permanent(String type, String message) {
        return new ModelFailure(type, message, false, Optional.empty());
    }

    /** Asking again may help: overload, a rate limit, a broken connection. */
    public static ModelFailure passing(String type, String message) {
        return new ModelFailure(type, message, true, Optional.empty());
    }

    /** As {@link #passing}, where the provider said how long to wait. */
    public static ModelFailure passing(String type, String message, Duration retryAfter) {
        return new ModelFailure(type, message, true, Optional.of(retryAfter));
    }

    public String type() {
        return type;
    }

    public boolean retryable() {
        return retryable;
    }

    public Optional<Duration> retryAfter() {
        return retryAfter;
    }
}
