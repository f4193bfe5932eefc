package dev.waymark.server.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.identity.CallerRole;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** A failed request, answered with a problem document (RFC 9457). Clients tell problems apart by {@code code}. */
public final class HttpProblem extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final String CONTENT_TYPE = "application/problem+json";
    /** Prefix of problem type URIs. A tag URI (RFC 4151) is an identifier only and cannot be opened. */
    private static final String TYPES = "tag:waymark.dev,2026:";

    private final int status;
    private final String code;
    private final transient Optional<String> remedy;
    private final transient Optional<String> messageId;
    private final transient Map<String, String> headers;

    private HttpProblem(
            int status,
            String code,
            String detail,
            Optional<String> remedy,
            Optional<String> messageId,
            Map<String, String> headers) {
        super(detail);
        this.status = status;
        this.code = code;
        this.remedy = remedy;
        this.messageId = messageId;
        this.headers = headers;
    }

    public static HttpProblem of(int status, String code, String detail) {
        return new HttpProblem(status, code, detail, Optional.empty(), Optional.empty(), Map.of());
    }

    public static HttpProblem badInput(String detail) {
        return of(400, ProblemType.BAD_INPUT, detail);
    }

    public static HttpProblem notFound(String detail) {
        return of(404, ProblemType.NOT_FOUND, detail);
    }

    /** The instance is shutting down: the client's next connection may reach another one. */
    static HttpProblem draining() {
        return of(503, "Draining", "this instance is shutting down")
                .withHeader("Retry-After", "1")
                .withHeader("Connection", "close");
    }

    /** The caller exceeds a limit. The request had no effect. */
    public static HttpProblem tooManyRequests(String detail) {
        return of(429, ProblemType.TOO_MANY_REQUESTS, detail).withHeader("Retry-After", "1");
    }

    /** The body was not received. */
    static HttpProblem ofBody(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof HttpProblem known
                ? known
                : cause instanceof TimeoutException
                        ? of(408, ProblemType.TOO_SLOW, "the body was not received in time")
                        : badInput("the body is incomplete");
    }

    public static HttpProblem roleRequired(CallerRole role, String what) {
        return of(403, ProblemType.ROLE_REQUIRED, "requires the role " + role.wireName() + what);
    }

    /** Sets what the caller can do about the problem. A blank text removes it. */
    public HttpProblem withRemedy(String words) {
        return new HttpProblem(
                status,
                code,
                String.valueOf(getMessage()),
                Optional.of(words).filter(text -> !text.isBlank()),
                messageId,
                headers);
    }

    /** Adds the id of the request's message, in case the thread accepts it later. */
    public HttpProblem withMessageId(String id) {
        return new HttpProblem(status, code, String.valueOf(getMessage()), remedy, Optional.of(id), headers);
    }

    public HttpProblem withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new HttpProblem(status, code, String.valueOf(getMessage()), remedy, messageId, more);
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    /** What the caller can do about the problem. */
    public Optional<String> remedy() {
        return remedy;
    }

    HttpReply reply() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("type", TYPES + code);
        document.put("title", code);
        document.put("status", status);
        document.put("code", code);
        document.put("detail", getMessage());
        remedy.ifPresent(words -> document.put("remedy", words));
        messageId.ifPresent(id -> document.put("messageId", id));
        return new HttpReply(status, CONTENT_TYPE, document.toString().getBytes(StandardCharsets.UTF_8), headers);
    }
}
