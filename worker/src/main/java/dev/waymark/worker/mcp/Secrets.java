package dev.waymark.worker.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.waymark.agent.McpServer;
import dev.waymark.worker.tool.EnvironmentReferences;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What {@code ${NAME}} stands for in the definition of a server. It is filled in when the server is started or asked, and
 * taken out of whatever comes back: servers quote what they are given.
 */
final class Secrets {
    /** What is shorter may well be a word. */
    private static final int SHORTEST = 8;

    private static final String HIDDEN = "[hidden]";

    private final Map<String, String> environment;
    private final List<String> values;

    private Secrets(Map<String, String> environment, List<String> values) {
        this.environment = environment;
        this.values = values;
    }

    /** Refuses a definition that needs a variable which is not there. */
    static Secrets of(McpServer server, Map<String, String> environment) throws NotReached {
        Optional<String> missing = references(server)
                .flatMap(text -> EnvironmentReferences.missing(text, environment).stream())
                .findFirst();
        if (missing.isPresent()) {
            throw new NotReached("environment variable " + missing.get() + " is not set in the worker");
        }
        List<String> values = references(server)
                .flatMap(text -> EnvironmentReferences.names(text).stream())
                .map(environment::get)
                .filter(value -> value.length() >= SHORTEST)
                .distinct()
                // One may be the beginning of another.
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
        return new Secrets(environment, values);
    }

    private static Stream<String> references(McpServer server) {
        return Stream.concat(server.env().values().stream(), server.headers().values().stream());
    }

    Map<String, String> resolved(Map<String, String> texts) {
        Map<String, String> resolved = new LinkedHashMap<>();
        texts.forEach((name, text) -> resolved.put(name, EnvironmentReferences.resolve(text, environment)));
        return resolved;
    }

    String hide(String text) {
        String hidden = text;
        for (String value : values) {
            hidden = hidden.replace(value, HIDDEN);
        }
        return hidden;
    }

    /** The same message without them. */
    JsonNode hide(JsonNode message) {
        if (values.isEmpty()) {
            return message;
        }
        if (message.isTextual()) {
            return TextNode.valueOf(hide(message.textValue()));
        }
        if (message.isArray()) {
            ArrayNode hidden = JsonRpc.MAPPER.createArrayNode();
            message.forEach(item -> hidden.add(hide(item)));
            return hidden;
        }
        if (message.isObject()) {
            ObjectNode hidden = JsonRpc.object();
            message.properties().forEach(field -> hidden.set(hide(field.getKey()), hide(field.getValue())));
            return hidden;
        }
        return message;
    }
}
