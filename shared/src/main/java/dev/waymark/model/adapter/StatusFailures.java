package dev.waymark.model.adapter;

import dev.waymark.model.ModelFailure;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Classifies a service's error by the status and the message that a library reports. The failure types, which histories
 * store, are the same as those of the HTTP providers.
 */
public final class StatusFailures {
    static final String BAD_REQUEST = "BadRequest";

    private StatusFailures() {}

    /** The failure for this status, unless the service's message is more specific. */
    public static ModelFailure of(int status, String message) {
        String words = message.toLowerCase(Locale.ROOT);
        // Google reports its limits per minute in the words in which OpenAI reports an empty account.
        if (status == 429 && Stream.of("resource_exhausted", "ai.google.dev").anyMatch(words::contains)) {
            return ModelFailure.passing("RateLimited", message);
        }
        if (status == 400 && words.contains("api key not valid")) { // Google
            return ModelFailure.permanent("Unauthorized", message);
        }
        if (status < 500
                && Stream.of("insufficient_quota", "billing", "credit balance").anyMatch(words::contains)) {
            return ModelFailure.permanent("NoCredit", message);
        }
        if (status < 500
                && Stream.of(
                                "context_length_exceeded",
                                "prompt is too long",
                                "maximum context length",
                                "exceeds the maximum number of tokens")
                        .anyMatch(words::contains)) {
            return ModelFailure.permanent("ContextWindowExceeded", message);
        }
        return switch (status) {
            case 401 -> ModelFailure.permanent("Unauthorized", message);
            case 402 -> ModelFailure.permanent("NoCredit", message);
            case 403 -> ModelFailure.permanent("Forbidden", message);
            case 404 -> ModelFailure.permanent("ModelNotFound", message);
            case 408 -> ModelFailure.passing("RequestTimedOut", message);
            case 409 -> ModelFailure.passing("Conflict", message);
            case 413 -> ModelFailure.permanent("RequestTooLarge", message);
            case 429 -> ModelFailure.passing("RateLimited", message);
            case 503, 529 -> ModelFailure.passing("Overloaded", message);
            default ->
                status >= 500
                        ? ModelFailure.passing("ServerError", message)
                        : ModelFailure.permanent(BAD_REQUEST, message);
        };
    }
}
