package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The parameters of a tool that requests over HTTP repeat as headers, so that proxies can read them. The tool's input
 * schema marks them with {@code x-mcp-header}.
 */
final class ParameterHeaders {
    private static final String MARK = "x-mcp-header";
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** Printable ASCII, spaces and tabs, with neither space nor tab at its ends. */
    private static final Pattern PLAIN = Pattern.compile("(?:[!-~](?:[\\t -~]*[!-~])?)?");

    private static final Pattern ENCODED = Pattern.compile("=\\?base64\\?.*\\?=");
    private static final Set<String> TYPES = Set.of("string", "integer", "boolean");
    private static final Set<String> NO_SCHEMAS = Set.of("enum", "const", "default", "examples");
    private static final Set<String> SCHEMAS_BY_NAME =
            Set.of("$defs", "definitions", "patternProperties", "dependentSchemas");
    private static final BigDecimal LARGEST = BigDecimal.valueOf((1L << 53) - 1);

    /** A marked parameter: the name of its header and the properties that lead to it. */
    private record Marked(String header, List<String> path) {}

    private final List<Marked> marked = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private Optional<String> problem = Optional.empty();

    private ParameterHeaders(JsonNode schema) {
        read(schema, List.of(), true);
    }

    /** Why a tool with this input schema must not be used; empty if it may. */
    static Optional<String> problem(JsonNode schema) {
        return new ParameterHeaders(schema).problem;
    }

    /** The headers of a call with these arguments. */
    static Map<String, String> of(JsonNode schema, JsonNode args) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Marked parameter : new ParameterHeaders(schema).marked) {
            JsonNode value = args;
            for (String property : parameter.path) {
                value = value.path(property);
            }
            if (value.isValueNode() && !value.isNull()) {
                headers.put("Mcp-Param-" + parameter.header, encoded(text(value)));
            }
        }
        return headers;
    }

    /** A value in the form that a header can contain. */
    static String encoded(String value) {
        return PLAIN.matcher(value).matches() && !ENCODED.matcher(value).matches()
                ? value
                : "=?base64?" + Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)) + "?=";
    }

    private static String text(JsonNode value) {
        return value.isNumber() ? value.decimalValue().stripTrailingZeros().toPlainString() : value.asText();
    }

    /** Why these arguments can't be sent: an integer that other programs would round; empty if they can. */
    static Optional<String> problem(JsonNode schema, JsonNode args) {
        for (Marked parameter : new ParameterHeaders(schema).marked) {
            JsonNode value = args;
            for (String property : parameter.path) {
                value = value.path(property);
            }
            if (value.isNumber() && value.decimalValue().abs().compareTo(LARGEST) > 0) {
                return Optional.of(String.join(".", parameter.path) + " must be an integer from -" + LARGEST + " to "
                        + LARGEST + ", because it is sent as a header");
            }
        }
        return Optional.empty();
    }

    /** @param reachable whether only properties lead to this schema */
    private void read(JsonNode schema, List<String> path, boolean reachable) {
        if (schema.has(MARK)) {
            mark(schema, path, reachable);
        }
        schema.properties().forEach(entry -> {
            String key = entry.getKey();
            JsonNode value = entry.getValue();
            if (key.equals("properties")) {
                value.properties().forEach(property -> {
                    List<String> further = new ArrayList<>(path);
                    further.add(property.getKey());
                    read(property.getValue(), further, reachable);
                });
            } else if (SCHEMAS_BY_NAME.contains(key)) {
                value.forEach(named -> read(named, path, false));
            } else if (value.isObject() && !NO_SCHEMAS.contains(key)) {
                read(value, path, false);
            } else if (value.isArray() && !NO_SCHEMAS.contains(key)) {
                value.forEach(item -> read(item, path, false));
            }
        });
    }

    private void mark(JsonNode schema, List<String> path, boolean reachable) {
        JsonNode name = schema.path(MARK);
        String where = path.isEmpty() ? "the schema" : String.join(".", path);
        if (!name.isTextual() || !TOKEN.matcher(name.asText()).matches()) {
            refuse(MARK + " of " + where + " is not the name of a header");
        } else if (!names.add(name.asText().toLowerCase(Locale.ROOT))) {
            refuse(MARK + " \"" + name.asText() + "\" stands twice");
        } else if (!reachable || path.isEmpty()) {
            refuse(MARK + " \"" + name.asText() + "\" is not on a property that properties alone lead to");
        } else if (!isPrimitive(schema.path("type"))) {
            refuse(MARK + " of " + where + " requires the type string, integer or boolean");
        } else {
            marked.add(new Marked(name.asText(), path));
        }
    }

    private static boolean isPrimitive(JsonNode type) {
        if (type.isTextual()) {
            return TYPES.contains(type.asText());
        }
        List<String> types = new ArrayList<>();
        type.forEach(one -> types.add(one.asText()));
        types.remove("null");
        return types.size() == 1 && TYPES.contains(types.get(0));
    }

    private void refuse(String why) {
        problem = problem.or(() -> Optional.of(why));
    }
}
