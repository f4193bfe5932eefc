package dev.waymark.server.http;

import dev.waymark.server.identity.CallerRole;
import java.util.Optional;
import java.util.function.Function;

/**
 * One operation of the API.
 *
 * @param name the {@code operationId} in the API's document
 * @param template the path, with parameters in braces
 * @param role the required role; empty if no authentication is required
 * @param mostBytes the maximum size of the body in bytes; 0 if the operation has no body
 */
public record Route(
        String name,
        String method,
        String template,
        Optional<CallerRole> role,
        int mostBytes,
        Function<ApiRequest, HttpAnswer> handler) {
    private static final int BODY_BYTES = 1024 * 1024;

    public static Route open(String name, String method, String template, Function<ApiRequest, HttpAnswer> handler) {
        return new Route(name, method, template, Optional.empty(), 0, handler);
    }

    public static Route get(String name, String template, Function<ApiRequest, HttpAnswer> handler) {
        return new Route(name, "GET", template, Optional.of(CallerRole.LOOK), 0, handler);
    }

    public static Route post(String name, String template, CallerRole role, Function<ApiRequest, HttpAnswer> handler) {
        return new Route(name, "POST", template, Optional.of(role), BODY_BYTES, handler);
    }

    public static Route delete(
            String name, String template, CallerRole role, Function<ApiRequest, HttpAnswer> handler) {
        return new Route(name, "DELETE", template, Optional.of(role), 0, handler);
    }

    /** Requires another role than its method does by default. */
    public Route requiring(CallerRole other) {
        return new Route(name, method, template, Optional.of(other), mostBytes, handler);
    }

    public Route taking(int bytes) {
        return new Route(name, method, template, role, bytes, handler);
    }
}
