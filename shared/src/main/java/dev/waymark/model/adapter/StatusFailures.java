package dev.waymark.model.adapter;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Classifies a service's error by the status and the message that a library reports. The failure types, which histories
 * store, are the same as those of the HTTP providers.
 */
public final class StatusFailures {

    private StatusFailures() {}

    /** The failure for this status, unless the service's message is more specific. */
    public static ModelFailure of(int status, String message) {
        String words = message.toLowerCase(Locale.ROOT);
        // Google reports limits per minute with the words that OpenAI uses for an empty account.
        if (status == 429 && Stream.of("resource_exhausted", "ai.google.dev").anyMatch(words::contains)) {
            return ModelFailure.passing(ProblemType.RATE_LIMITED, message);
        }
        if (status == 400 && words.contains("api key not valid")) { // Google
            return ModelFailure.permanent(ProblemType.UNAUTHORIZED, message);
        }
        if (status < 500
                && Stream.of("insufficient_quota", "billing", "credit balance").anyMatch(words::contains)) {
            return ModelFailure.permanent(ProblemType.NO_CREDIT, message);
        }
        if (status < 500
                && Stream.of(
                                "context_length_exceeded",
                                "prompt is too long",
                                "maximum context length",
                                "exceeds the maximum number of tokens")
                        .anyMatch(words::contains)) {
            return ModelFailure.permanent(ProblemType.CONTEXT_WINDOW_EXCEEDED, message);
        }
        return switch (status) {
            case 401 -> ModelFailure.permanent(ProblemType.UNAUTHORIZED, message);
            case 402 -> ModelFailure.permanent(ProblemType.NO_CREDIT, message);
            case 403 -> ModelFailure.permanent(ProblemType.FORBIDDEN, message);
            case 404 -> ModelFailure.permanent(ProblemType.MODEL_NOT_FOUND, message);
            case 408 -> ModelFailure.passing(ProblemType.REQUEST_TIMED_OUT, message);
            case 409 -> ModelFailure.passing(ProblemType.CONFLICT, message);
            case 413 -> ModelFailure.permanent(ProblemType.REQUEST_TOO_LARGE, message);
            case 429 -> ModelFailure.passing(ProblemType.RATE_LIMITED, message);
            case 503, 529 -> ModelFailure.passing(ProblemType.OVERLOADED, message);
            default ->
                status >= 500
                        ? ModelFailure.passing(ProblemType.SERVER_ERROR, message)
                        : ModelFailure.permanent(ProblemType.BAD_REQUEST, message);
        };
    }
}
