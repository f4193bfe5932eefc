package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the route of a request. A parameter is one path segment, which may contain an escaped slash. */
final class Router {
    private final List<Route> routes;

    Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
    }

    /** A route and its decoded path parameters. */
    record Match(Route route, Map<String, String> path) {}

    /**
     * Finds the route of a request.
     *
     * @param path the path as sent, not decoded
     * @throws HttpProblem with status 404 if no route has this path, or 405 if only routes with other methods have it
     */
    Match find(String method, String path) {
        List<Match> here = routes.stream()
                .flatMap(route -> match(route, path).stream().map(found -> new Match(route, found)))
                .toList();
        if (here.isEmpty()) {
            throw HttpProblem.notFound("no such resource");
        }
        return here.stream()
                .filter(match -> match.route().method().equals(method))
                .findFirst()
                .orElseThrow(() -> HttpProblem.of(
                                405, ProblemType.METHOD_NOT_ALLOWED, "this resource does not allow " + method)
                        .withHeader(
                                "Allow",
                                here.stream()
                                        .map(match -> match.route().method())
                                        .collect(Collectors.joining(", "))));
    }

    private static Optional<Map<String, String>> match(Route route, String path) {
        List<String> wanted = Arrays.asList(route.template().split("/", -1));
        List<String> given = Arrays.asList(path.split("/", -1));
        if (wanted.size() != given.size()) {
            return Optional.empty();
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < wanted.size(); i++) {
            String name = wanted.get(i);
            if (name.startsWith("{")) {
                parameters.put(name.substring(1, name.length() - 1), decoded(given.get(i)));
            } else if (!name.equals(given.get(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(parameters);
    }

    /** Parses a query. Rejects duplicate parameters. */
    static Map<String, String> query(Optional<String> query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query.filter(text -> !text.isEmpty())
                .map(text -> text.split("&", -1))
                .orElse(new String[0])) {
            int equals = pair.indexOf('=');
            String name = decoded((equals < 0 ? pair : pair.substring(0, equals)).replace('+', ' '));
            String value = decoded((equals < 0 ? "" : pair.substring(equals + 1)).replace('+', ' '));
            if (parameters.put(name, value) != null) {
                throw HttpProblem.badInput("duplicate query parameter: " + name);
            }
        }
        return parameters;
    }

    /** Decodes percent-encoded UTF-8, and rejects invalid input. */
    private static String decoded(String text) {
        try {
            byte[] bytes = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.ISO_8859_1)
                    .getBytes(StandardCharsets.ISO_8859_1);
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (IllegalArgumentException | CharacterCodingException e) {
            throw HttpProblem.badInput("not percent-encoded UTF-8: " + text);
        }
    }
}
