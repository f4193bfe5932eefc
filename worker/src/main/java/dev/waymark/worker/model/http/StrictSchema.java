package dev.waymark.worker.model.http;

import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A JSON Schema in the form that services enforce while a model writes: objects have exactly the declared properties,
 * and limits of values are left out. A reply that matches it may violate a limit, so the worker also checks the reply
 * against the whole schema.
 *
 * @param complete whether all properties are required, without which OpenAI does not enforce a schema
 */
public record StrictSchema(Json schema, boolean complete) {
    private static final Set<String> LEFT_OUT = Set.of(
            "$schema",
            "$id",
            "$comment",
            "default",
            "deprecated",
            "examples",
            "readOnly",
            "writeOnly",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minProperties",
            "maxProperties");

    private static final Set<String> KEPT = Set.of("title", "description", "enum", "const", "$ref");

    private static final Set<String> FORMATS =
            Set.of("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid");

    private static final String OBJECT = "object";

    /** Empty if the schema cannot be expressed: it is not an object's schema, or allows arbitrary properties. */
    public static Optional<StrictSchema> of(Json schema) {
        if (!(schema.value() instanceof Map<?, ?> root) || !OBJECT.equals(root.get("type"))) {
            return Optional.empty();
        }
        Reading reading = new Reading();
        Object strict = reading.schema(root);
        return reading.fits ? Optional.of(new StrictSchema(Json.of(strict), reading.complete)) : Optional.empty();
    }

    private static final class Reading {
        private boolean fits = true;
        private boolean complete = true;

        private Object schema(Object value) {
            Map<String, Object> strict = new LinkedHashMap<>();
            if (!(value instanceof Map<?, ?> fields)) {
                fits = false;
                return strict;
            }
            fields.forEach((key, field) -> put(strict, String.valueOf(key), field));
            if (OBJECT.equals(fields.get("type"))) {
                object(strict, fields);
            } else if (!fields.containsKey("type")
                    && !fields.containsKey("enum")
                    && !fields.containsKey("const")
                    && !fields.containsKey("anyOf")
                    && !fields.containsKey("$ref")) {
                fits = false; // Allows any value.
            }
            return strict;
        }

        private void put(Map<String, Object> strict, String key, Object field) {
            if (KEPT.contains(key)) {
                strict.put(key, field);
            } else if (key.equals("type")) {
                fits &= field instanceof String;
                strict.put(key, field);
            } else if (key.equals("format")) {
                if (FORMATS.contains(field)) {
                    strict.put(key, field);
                }
            } else if (key.equals("items")) {
                strict.put(key, schema(field));
            } else if (key.equals("anyOf") && field instanceof List<?> all) {
                strict.put(key, all.stream().map(this::schema).toList());
            } else if (key.equals("$defs") && field instanceof Map<?, ?> all) {
                strict.put(key, each(all));
            } else if (!LEFT_OUT.contains(key) && !isOfObject(key)) {
                fits = false;
            }
        }

        private static boolean isOfObject(String key) {
            return key.equals("properties") || key.equals("required") || key.equals("additionalProperties");
        }

        private void object(Map<String, Object> strict, Map<?, ?> fields) {
            Object more = fields.get("additionalProperties");
            fits &= fields.get("properties") instanceof Map && (more == null || Boolean.FALSE.equals(more));
            Map<?, ?> properties = fields.get("properties") instanceof Map<?, ?> all ? all : Map.of();
            List<?> required = fields.get("required") instanceof List<?> names ? names : List.of();
            complete &= required.containsAll(properties.keySet());
            strict.put("properties", each(properties));
            strict.put("required", new ArrayList<>(required));
            strict.put("additionalProperties", false);
        }

        private Map<String, Object> each(Map<?, ?> schemas) {
            Map<String, Object> strict = new LinkedHashMap<>();
            schemas.forEach((name, schema) -> strict.put(String.valueOf(name), schema(schema)));
            return strict;
        }
    }
}
