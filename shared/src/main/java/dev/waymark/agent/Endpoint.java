package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The HTTP request that a call of an HTTP tool sends.
 *
 * @param url may contain <code>{field}</code> for arguments and <code>${NAME}</code> for variables of the worker's
 *     environment
 * @param headers may contain <code>${NAME}</code> in their values
 * @param allowPrivate whether the address may be private, loopback or link-local
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Endpoint(
        Method method,
        String url,
        Map<String, String> headers,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean allowPrivate) {
    /** HTTP methods. Their names are stored in histories. */
    public enum Method {
        GET,
        HEAD,
        POST,
        PUT,
        PATCH,
        DELETE;

        /** Whether requests of this method only read. */
        public boolean reads() {
            return this == GET || this == HEAD;
        }

        /**
         * Whether the arguments that the URL does not contain are sent in a body; otherwise, they are sent in the
         * query.
         */
        public boolean hasBody() {
            return this == POST || this == PUT || this == PATCH;
        }
    }

    public Endpoint {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(url, "url");
        headers = headers == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** A request without headers to a public address. */
    public static Endpoint of(Method method, String url) {
        return new Endpoint(method, url, Map.of(), false);
    }

    /** Adds a header, or replaces it. */
    public Endpoint withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Endpoint(method, url, more, allowPrivate);
    }

    /** Allows private, loopback and link-local addresses. */
    public Endpoint allowingPrivate() {
        return new Endpoint(method, url, headers, true);
    }
}
