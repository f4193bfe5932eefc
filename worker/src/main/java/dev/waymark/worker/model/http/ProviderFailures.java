package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Classifies failed requests and determines which of them are retryable. Only Temporal retries, so each attempt is one
 * HTTP request. The types are stored in histories.
 */
public enum ProviderFailures {
    BAD_REQUEST(ProblemType.BAD_REQUEST, false),
    UNAUTHORIZED(ProblemType.UNAUTHORIZED, false),
    NO_CREDIT(ProblemType.NO_CREDIT, false),
    FORBIDDEN(ProblemType.FORBIDDEN, false),
    MODEL_NOT_FOUND(ProblemType.MODEL_NOT_FOUND, false),
    REQUEST_TOO_LARGE(ProblemType.REQUEST_TOO_LARGE, false),
    CONTEXT_WINDOW_EXCEEDED(ProblemType.CONTEXT_WINDOW_EXCEEDED, false),
    /** The provider refuses to answer this request. */
    REFUSED(ProblemType.REFUSED, false),
    /** The reply contains calls and hit the token limit. Not even its complete calls may run. */
    CALL_CUT(ProblemType.CALL_CUT, false),
    /** Not retryable: the next reply is likely to be as large. */
    REPLY_TOO_LARGE(ProblemType.REPLY_TOO_LARGE, false),
    /** The provider answered with a redirect, which is not followed: keys are never sent to another address. */
    REDIRECTED(ProblemType.REDIRECTED, false),
    NOT_CONFIGURED(ProblemType.NOT_CONFIGURED, false),
    /** The provider returned null, or threw anything other than a {@link ModelFailure}. */
    PROVIDER_BUG(ProblemType.PROVIDER_BUG, false),

    REQUEST_TIMED_OUT(ProblemType.REQUEST_TIMED_OUT, true),
    CONFLICT(ProblemType.CONFLICT, true),
    RATE_LIMITED(ProblemType.RATE_LIMITED, true),
    OVERLOADED(ProblemType.OVERLOADED, true),
    SERVER_ERROR(ProblemType.SERVER_ERROR, true),
    UNREACHABLE(ProblemType.UNREACHABLE, true),
    /** The key's file or program provides no key at the moment. */
    KEY_UNAVAILABLE(ProblemType.KEY_UNAVAILABLE, true),
    /** The stream ended before the provider marked the reply as complete; no part of the reply is used. */
    STREAM_CUT(ProblemType.STREAM_CUT, true),
    MALFORMED_REPLY(ProblemType.MALFORMED_REPLY, true),
    /** The model sent no part of its reply for longer than the agent allows. */
    MODEL_SILENT(ProblemType.MODEL_SILENT, true),
    /** The worker has no memory for the reply, because it is reading other replies. */
    WORKER_BUSY(ProblemType.WORKER_BUSY, true);

    /** Error codes that are more specific than the HTTP status. */
    private static final Map<String, ProviderFailures> SPECIFIC_CODES = Map.ofEntries(
            Map.entry("insufficient_quota", NO_CREDIT),
            Map.entry("billing_error", NO_CREDIT),
            Map.entry("billing_hard_limit_reached", NO_CREDIT),
            Map.entry("billing_not_active", NO_CREDIT),
            Map.entry("context_length_exceeded", CONTEXT_WINDOW_EXCEEDED),
            Map.entry("exceed_context_size_error", CONTEXT_WINDOW_EXCEEDED), // llama.cpp
            Map.entry("content_filter", REFUSED),
            Map.entry("content_policy_violation", REFUSED));

    /** Error messages that are more specific than the HTTP status. */
    private static final Map<String, ProviderFailures> PHRASES = Map.of(
            "prompt is too long", CONTEXT_WINDOW_EXCEEDED,
            "exceed context limit", CONTEXT_WINDOW_EXCEEDED,
            "maximum context length", CONTEXT_WINDOW_EXCEEDED,
            "exceeds the maximum number of tokens", CONTEXT_WINDOW_EXCEEDED,
            "credit balance is too low", NO_CREDIT);

    /** Error codes inside a stream, where no HTTP status applies. */
    private static final Map<String, ProviderFailures> IN_STREAM = Map.ofEntries(
            Map.entry("invalid_request_error", BAD_REQUEST),
            Map.entry("authentication_error", UNAUTHORIZED),
            Map.entry("invalid_api_key", UNAUTHORIZED),
            Map.entry("permission_error", FORBIDDEN),
            Map.entry("not_found_error", MODEL_NOT_FOUND),
            Map.entry("model_not_found", MODEL_NOT_FOUND),
            Map.entry("request_too_large", REQUEST_TOO_LARGE),
            Map.entry("rate_limit_error", RATE_LIMITED),
            Map.entry("rate_limit_exceeded", RATE_LIMITED),
            Map.entry("overloaded_error", OVERLOADED));

    private final String type;
    private final boolean passing;

    ProviderFailures(String type, boolean passing) {
        this.type = type;
        this.passing = passing;
    }

    /** Classifies a response that is not a stream. */
    static ProviderFailures of(int status, ErrorBody body) {
        if (status < 300) {
            return body.names().isEmpty() ? MALFORMED_REPLY : inStream(body);
        }
        Optional<ProviderFailures> told = status >= 400 && status < 500 ? specific(body) : Optional.empty();
        return told.orElseGet(() -> of(status));
    }

    /** Classifies an error inside a stream. Unknown errors are retryable. */
    static ProviderFailures inStream(ErrorBody body) {
        return specific(body)
                .or(() -> first(body.names(), IN_STREAM))
                .or(() -> body.names().stream()
                        .filter(name -> name.matches("[45][0-9][0-9]"))
                        .map(name -> of(Integer.parseInt(name)))
                        .findFirst())
                .orElse(SERVER_ERROR);
    }

    private static Optional<ProviderFailures> specific(ErrorBody body) {
        return first(body.names(), SPECIFIC_CODES)
                .or(() -> PHRASES.entrySet().stream()
                        .filter(phrase -> body.message().contains(phrase.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst());
    }

    private static Optional<ProviderFailures> first(List<String> names, Map<String, ProviderFailures> known) {
        return names.stream().filter(known::containsKey).map(known::get).findFirst();
    }

    private static ProviderFailures of(int status) {
        return switch (status) {
            case 401 -> UNAUTHORIZED;
            case 402 -> NO_CREDIT;
            case 403 -> FORBIDDEN;
            case 404 -> MODEL_NOT_FOUND;
            case 408 -> REQUEST_TIMED_OUT;
            case 409 -> CONFLICT;
            case 413 -> REQUEST_TOO_LARGE;
            case 429 -> RATE_LIMITED;
            case 503, 529 -> OVERLOADED;
            default -> {
                if (status >= 500) {
                    yield SERVER_ERROR;
                }
                yield status >= 400 ? BAD_REQUEST : REDIRECTED;
            }
        };
    }

    /** The failure for a stream that ended before the reply was complete. */
    public static ModelFailure streamCut(ProviderService service) {
        return streamCut(service, "");
    }

    /** @param details appended to the message */
    static ModelFailure streamCut(ProviderService service, String details) {
        return STREAM_CUT.failure(service.name() + " ended the stream in the middle of the reply" + details);
    }

    /** The failure for a reply that contains calls and hit the token limit. */
    public static ModelFailure callCut() {
        return CALL_CUT.failure("the reply was cut by max_tokens while it called tools: none of them is run. A larger"
                + " max_tokens in the agent's file is for new threads");
    }

    /** The type, as stored in histories. */
    public String type() {
        return type;
    }

    public ModelFailure failure(String message) {
        return passing ? ModelFailure.passing(type, message) : ModelFailure.permanent(type, message);
    }

    /** @param retryAfter the wait that the provider requests */
    ModelFailure failure(String message, Optional<Duration> retryAfter) {
        return passing && retryAfter.isPresent()
                ? ModelFailure.passing(type, message, retryAfter.get())
                : failure(message);
    }
}
