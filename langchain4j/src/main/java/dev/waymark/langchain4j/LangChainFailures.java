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
import dev.waymark.model.adapter.StatusFailures;
import java.io.IOException;
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
            return StatusFailures.of(http.get().statusCode(), message);
        }
        if (has(thrown, AuthenticationException.class::isInstance)) {
            return StatusFailures.of(401, message);
        }
        if (has(thrown, RateLimitException.class::isInstance)) {
            return StatusFailures.of(429, message);
        }
        if (has(thrown, ModelNotFoundException.class::isInstance)) {
            return StatusFailures.of(404, message);
        }
        if (has(thrown, e -> e instanceof InvalidRequestException || e instanceof UnsupportedFeatureException)) {
            return StatusFailures.of(400, message);
        }
        if (has(thrown, TimeoutException.class::isInstance)) {
            return StatusFailures.of(408, message);
        }
        if (has(thrown, e -> e instanceof UnresolvedModelServerException || e instanceof IOException)) {
            return ModelFailure.passing("Unreachable", message);
        }
        if (has(thrown, NonRetriableException.class::isInstance)) {
            return StatusFailures.of(400, message);
        }
        return ModelFailure.passing("ServerError", message);
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
