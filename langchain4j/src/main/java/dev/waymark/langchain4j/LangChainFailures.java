package dev.waymark.langchain4j;

import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.ContentFilteredException;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.NonRetriableException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.exception.UnresolvedModelServerException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.waymark.model.ModelFailure;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Which failures a retry may help with. The types are those of the providers over HTTP; histories store them. */
final class LangChainFailures {
    private static final int LONGEST = 1_000;

    private LangChainFailures() {}

    static ModelFailure of(Throwable thrown) {
        Optional<HttpException> http = chain(thrown)
                .filter(HttpException.class::isInstance)
                .map(HttpException.class::cast)
                .findFirst();
        String message = message(thrown);
        if (has(thrown, ContentFilteredException.class::isInstance)) {
            return ModelFailure.permanent("Refused", message);
        }
        if (http.isPresent() && http.get().statusCode() >= 300) {
            return of(http.get().statusCode(), message);
        }
        if (has(thrown, AuthenticationException.class::isInstance)) {
            return of(401, message);
        }
        if (has(thrown, RateLimitException.class::isInstance)) {
            return of(429, message);
        }
        if (has(thrown, ModelNotFoundException.class::isInstance)) {
            return of(404, message);
        }
        if (has(thrown, e -> e instanceof InvalidRequestException || e instanceof UnsupportedFeatureException)) {
            return of(400, message);
        }
        if (has(thrown, TimeoutException.class::isInstance)) {
            return of(408, message);
        }
        if (has(thrown, e -> e instanceof UnresolvedModelServerException || e instanceof IOException)) {
            return ModelFailure.passing("Unreachable", message);
        }
        if (has(thrown, NonRetriableException.class::isInstance)) {
            return of(400, message);
        }
        return ModelFailure.passing("ServerError", message);
    }

    private static ModelFailure of(int status, String message) {
        String words = message.toLowerCase(Locale.ROOT);
        if (status < 500
                && Stream.of("insufficient_quota", "billing", "credit balance").anyMatch(words::contains)) {
            return ModelFailure.permanent("NoCredit", message);
        }
        if (status < 500
                && Stream.of("context_length_exceeded", "prompt is too long", "maximum context length")
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
                        : ModelFailure.permanent("BadRequest", message);
        };
    }

    private static boolean has(Throwable thrown, Predicate<Throwable> kind) {
        return chain(thrown).anyMatch(kind);
    }

    private static Stream<Throwable> chain(Throwable thrown) {
        return Stream.iterate(thrown, each -> each != null, each -> each.getCause())
                .limit(20);
    }

    private static String message(Throwable thrown) {
        String words = chain(thrown)
                .map(Throwable::getMessage)
                .filter(each -> each != null && !each.isBlank())
                .findFirst()
                .orElse(thrown.getClass().getSimpleName());
        return words.length() <= LONGEST ? words : words.substring(0, LONGEST) + " …";
    }
}
