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
import dev.waymark.model.adapter.Causes;
import dev.waymark.model.adapter.StatusFailures;
import java.io.IOException;
import java.util.Optional;

/**
 * Decides which failures a retry may solve. The failure types are those of the HTTP providers, and are stored in
 * histories.
 */
final class LangChainFailures {
    private LangChainFailures() {}

    static ModelFailure of(Throwable thrown) {
        Optional<HttpException> http = Causes.of(thrown)
                .filter(HttpException.class::isInstance)
                .map(HttpException.class::cast)
                .findFirst();
        String message = Causes.message(thrown);
        if (Causes.has(thrown, ContentFilteredException.class::isInstance)) {
            return ModelFailure.permanent("Refused", message);
        }
        if (http.isPresent() && http.get().statusCode() >= 300) {
            return StatusFailures.of(http.get().statusCode(), message);
        }
        if (Causes.has(thrown, AuthenticationException.class::isInstance)) {
            return StatusFailures.of(401, message);
        }
        if (Causes.has(thrown, RateLimitException.class::isInstance)) {
            return StatusFailures.of(429, message);
        }
        if (Causes.has(thrown, ModelNotFoundException.class::isInstance)) {
            return StatusFailures.of(404, message);
        }
        if (Causes.has(thrown, e -> e instanceof InvalidRequestException || e instanceof UnsupportedFeatureException)) {
            return StatusFailures.of(400, message);
        }
        if (Causes.has(thrown, TimeoutException.class::isInstance)) {
            return StatusFailures.of(408, message);
        }
        if (Causes.has(thrown, e -> e instanceof UnresolvedModelServerException || e instanceof IOException)) {
            return ModelFailure.passing("Unreachable", message);
        }
        if (Causes.has(thrown, NonRetriableException.class::isInstance)) {
            return StatusFailures.of(400, message);
        }
        return ModelFailure.passing("ServerError", message);
    }
}
