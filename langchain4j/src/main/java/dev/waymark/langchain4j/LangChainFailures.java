package dev.waymark.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
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
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.adapter.Causes;
import dev.waymark.model.adapter.StatusFailures;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decides which failures a retry may solve. The failure types are those of the HTTP providers, and are stored in
 * histories.
 */
final class LangChainFailures {
    private static final Pattern RETRY_DELAY = Pattern.compile("\"retryDelay\"\\s*:\\s*\"(\\d{1,6})(\\.\\d+)?s\"");

    private LangChainFailures() {}

    static ModelFailure of(Throwable thrown) {
        Optional<HttpException> http = Causes.of(thrown)
                .filter(HttpException.class::isInstance)
                .map(HttpException.class::cast)
                .findFirst();
        String message = Causes.message(thrown);
        if (Causes.has(thrown, ContentFilteredException.class::isInstance)) {
            return ModelFailure.permanent(ProblemType.REFUSED, message);
        }
        if (http.isPresent() && http.get().statusCode() >= 300) {
            return delayed(StatusFailures.of(http.get().statusCode(), message), http.get());
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
        if (Causes.has(thrown, JsonProcessingException.class::isInstance)) {
            return ModelFailure.passing(ProblemType.MALFORMED_REPLY, message);
        }
        if (Causes.has(thrown, e -> e instanceof UnresolvedModelServerException || e instanceof IOException)) {
            return ModelFailure.passing(ProblemType.UNREACHABLE, message);
        }
        if (Causes.has(thrown, NonRetriableException.class::isInstance)) {
            return StatusFailures.of(400, message);
        }
        return ModelFailure.passing(ProblemType.SERVER_ERROR, message);
    }

    /** Reads the requested delay from Google's error, because LangChain4j does not pass on headers. */
    private static ModelFailure delayed(ModelFailure failure, HttpException response) {
        Matcher delay = RETRY_DELAY.matcher(String.valueOf(response.getMessage()));
        return failure.retryable() && delay.find()
                ? ModelFailure.passing(
                        failure.type(),
                        String.valueOf(failure.getMessage()),
                        Duration.ofSeconds(Long.parseLong(delay.group(1)) + 1))
                : failure;
    }
}
