package dev.waymark.langchain4j;

import dev.langchain4j.model.chat.request.json.JsonAnyOfSchema;
import dev.langchain4j.model.chat.request.json.JsonArraySchema;
import dev.langchain4j.model.chat.request.json.JsonBooleanSchema;
import dev.langchain4j.model.chat.request.json.JsonEnumSchema;
import dev.langchain4j.model.chat.request.json.JsonIntegerSchema;
import dev.langchain4j.model.chat.request.json.JsonNullSchema;
import dev.langchain4j.model.chat.request.json.JsonNumberSchema;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.model.chat.request.json.JsonStringSchema;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Translates JSON Schema to LangChain4j's types, for modules that know only these. Rules that have no type, such as
 * {@code minimum}, become part of the description: the model still reads them, and arguments are checked by the
 * complete schema.
 */
final class TypedSchema {
    /** Rules that the types cannot express. */
    private static final Set<String> RULES = Set.of(
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
            "uniqueItems",
            "prefixItems",
            "minProperties",
            "maxProperties",
            "patternProperties",
            "propertyNames",
            "dependentRequired",
            "default",
            "not",
            "if",
            "then",
            "else");

    private final Map<?, ?> root;
    /** Whether the types exclude a value that the schema permits. */
    private boolean isNarrower;

    private TypedSchema(Map<?, ?> root) {
        this.root = root;
    }

    /** The parameters of a tool; empty if it has none. */
    static Optional<JsonObjectSchema> parameters(Json schema) {
        if (!(schema.value() instanceof Map<?, ?> root)) {
            return Optional.empty();
        }
        TypedSchema types = new TypedSchema(root);
        Map<Object, Object> resolved = new LinkedHashMap<>(types.resolve(root, Set.of()));
        for (Object alternative : alternatives(resolved)) {
            if (alternative instanceof Map<?, ?> possible
                    && types.resolve(possible, Set.of()).get("properties") instanceof Map<?, ?> properties) {
                merge(resolved, Map.of("properties", properties));
            }
        }
        JsonObjectSchema parameters = types.object(resolved, Set.of());
        return parameters.properties().isEmpty() ? Optional.empty() : Optional.of(parameters);
    }

    /** The form of a reply; empty if the types would forbid replies that the schema permits. */
    static Optional<JsonObjectSchema> reply(Json schema) {
        if (!(schema.value() instanceof Map<?, ?> root)) {
            return Optional.empty();
        }
        TypedSchema types = new TypedSchema(root);
        JsonSchemaElement form = types.element(root, Set.of());
        return form instanceof JsonObjectSchema object && !types.isNarrower ? Optional.of(object) : Optional.empty();
    }

    /** @param seen the references that lead to this schema, since a schema may contain itself */
    private JsonSchemaElement element(@Nullable Object given, Set<String> seen) {
        if (!(given instanceof Map<?, ?> unresolved)) {
            return anything(Optional.empty());
        }
        Set<String> within = with(seen, reference(unresolved));
        Map<?, ?> schema = resolve(unresolved, seen);
        List<?> alternatives = alternatives(schema);
        if (!alternatives.isEmpty()) {
            JsonAnyOfSchema.Builder any = JsonAnyOfSchema.builder();
            description(schema).ifPresent(any::description);
            return any.anyOf(alternatives.stream()
                            .map(each -> element(each, within))
                            .toList())
                    .build();
        }
        List<?> values = values(schema);
        boolean words =
                !values.isEmpty() && values.stream().allMatch(value -> value instanceof String text && !text.isEmpty());
        return switch (words ? "string" : type(schema, values)) {
            case "string" -> words ? choice(schema, values) : string(schema);
            case "integer" -> {
                JsonIntegerSchema.Builder integer = JsonIntegerSchema.builder();
                description(schema).ifPresent(integer::description);
                yield integer.build();
            }
            case "number" -> {
                JsonNumberSchema.Builder number = JsonNumberSchema.builder();
                description(schema).ifPresent(number::description);
                yield number.build();
            }
            case "boolean" -> {
                JsonBooleanSchema.Builder bool = JsonBooleanSchema.builder();
                description(schema).ifPresent(bool::description);
                yield bool.build();
            }
            case "null" -> new JsonNullSchema();
            case "array" -> {
                JsonArraySchema.Builder array = JsonArraySchema.builder();
                description(schema).ifPresent(array::description);
                // Gemini rejects arrays without an item type.
                yield array.items(element(schema.get("items"), within)).build();
            }
            case "object" -> object(schema, within);
            default -> anything(description(schema));
        };
    }

    private JsonObjectSchema object(Map<?, ?> schema, Set<String> seen) {
        JsonObjectSchema.Builder object = JsonObjectSchema.builder();
        description(schema).ifPresent(object::description);
        Map<?, ?> properties = schema.get("properties") instanceof Map<?, ?> known ? known : Map.of();
        Object others = schema.get("additionalProperties");
        isNarrower |= properties.isEmpty()
                || others instanceof Map
                || Boolean.TRUE.equals(others)
                || schema.containsKey("patternProperties");
        properties.forEach((name, property) -> object.addProperty(String.valueOf(name), element(property, seen)));
        if (schema.get("required") instanceof List<?> required) {
            // Gemini rejects the name of a required property that is not declared.
            object.required(required.stream()
                    .filter(properties::containsKey)
                    .map(String::valueOf)
                    .toList());
        }
        return object.build();
    }

    private static JsonSchemaElement string(Map<?, ?> schema) {
        JsonStringSchema.Builder string = JsonStringSchema.builder();
        description(schema).ifPresent(string::description);
        return string.build();
    }

    private static JsonSchemaElement choice(Map<?, ?> schema, List<?> values) {
        JsonEnumSchema.Builder choice = JsonEnumSchema.builder();
        description(schema).ifPresent(choice::description);
        return choice.enumValues(values.stream().map(String::valueOf).toList()).build();
    }

    /** Any value. Gemini has no type for that, and rejects an object without properties in some places. */
    private JsonSchemaElement anything(Optional<String> description) {
        isNarrower = true;
        JsonAnyOfSchema.Builder any = JsonAnyOfSchema.builder();
        description.ifPresent(any::description);
        return any.anyOf(
                        JsonStringSchema.builder().build(),
                        JsonNumberSchema.builder().build(),
                        JsonBooleanSchema.builder().build())
                .build();
    }

    /** The schemas of which one must match. If an object declares properties, rules about them are ignored. */
    private static List<?> alternatives(Map<?, ?> schema) {
        if (schema.containsKey("properties")) {
            return List.of();
        }
        for (String keyword : List.of("anyOf", "oneOf")) {
            if (schema.get(keyword) instanceof List<?> alternatives) {
                return alternatives;
            }
        }
        if (!(schema.get("type") instanceof List<?> types)) {
            return List.of();
        }
        return types.stream()
                .map(type -> {
                    Map<Object, Object> single = new LinkedHashMap<>(schema);
                    single.remove("description");
                    single.put("type", type);
                    return single;
                })
                .toList();
    }

    private static List<?> values(Map<?, ?> schema) {
        if (schema.containsKey("const")) {
            List<Object> only = new ArrayList<>();
            only.add(schema.get("const"));
            return only;
        }
        return schema.get("enum") instanceof List<?> values ? values : List.of();
    }

    private static String type(Map<?, ?> schema, List<?> values) {
        if (schema.get("type") instanceof String type) {
            return type;
        }
        if (schema.containsKey("properties") || schema.containsKey("additionalProperties")) {
            return "object";
        }
        if (schema.containsKey("items")) {
            return "array";
        }
        if (!values.isEmpty() && values.stream().allMatch(Number.class::isInstance)) {
            return "number";
        }
        return "";
    }

    private static Optional<String> reference(Map<?, ?> schema) {
        return schema.get("$ref") instanceof String reference ? Optional.of(reference) : Optional.empty();
    }

    /**
     * Replaces a reference by what it refers to, and merges the schemas that must all match. A reference back to a
     * schema that contains it allows anything.
     */
    private Map<?, ?> resolve(Map<?, ?> schema, Set<String> seen) {
        Map<Object, Object> whole = new LinkedHashMap<>();
        Optional<String> reference = reference(schema).filter(target -> !seen.contains(target));
        reference.flatMap(this::target).ifPresent(target -> merge(whole, resolve(target, with(seen, reference))));
        merge(whole, schema);
        if (schema.get("allOf") instanceof List<?> all) {
            for (Object part : all) {
                if (part instanceof Map<?, ?> more) {
                    merge(whole, resolve(more, with(seen, reference)));
                }
            }
        }
        return whole;
    }

    private static Set<String> with(Set<String> seen, Optional<String> reference) {
        return Stream.concat(seen.stream(), reference.stream()).collect(Collectors.toSet());
    }

    private static void merge(Map<Object, Object> whole, Map<?, ?> more) {
        more.forEach((keyword, value) -> whole.put(keyword, merged(keyword, whole.get(keyword), value)));
    }

    private static @Nullable Object merged(Object keyword, @Nullable Object one, @Nullable Object other) {
        if (keyword.equals("properties") && one instanceof Map<?, ?> some && other instanceof Map<?, ?> others) {
            Map<Object, Object> both = new LinkedHashMap<>(some);
            both.putAll(others);
            return both;
        }
        if (keyword.equals("required") && one instanceof List<?> some && other instanceof List<?> others) {
            return Stream.concat(some.stream(), others.stream()).distinct().toList();
        }
        return other;
    }

    /** The target of a reference within the schema, such as {@code #/$defs/city}. */
    private Optional<Map<?, ?>> target(String reference) {
        Object found = root;
        for (String step : reference.replaceFirst("^#/?", "").split("/")) {
            String key = step.replace("~1", "/").replace("~0", "~");
            if (key.isEmpty()) {
                continue;
            }
            found = found instanceof Map<?, ?> map ? map.get(key) : null;
        }
        return found instanceof Map<?, ?> map ? Optional.of(map) : Optional.empty();
    }

    private static Optional<String> description(Map<?, ?> schema) {
        Map<String, Object> rules = new LinkedHashMap<>();
        schema.forEach((keyword, value) -> {
            boolean untyped = RULES.contains(keyword)
                    || (keyword.equals("additionalProperties")
                            && value instanceof Map<?, ?> values
                            && !values.isEmpty())
                    || ((keyword.equals("enum") || keyword.equals("const"))
                            && !values(schema).stream()
                                    .allMatch(each -> each instanceof String text && !text.isEmpty()));
            if (untyped) {
                rules.put(String.valueOf(keyword), value);
            }
        });
        String words = schema.get("description") instanceof String text ? text : "";
        String all = rules.isEmpty() ? words : (words + "\nJSON Schema: " + Json.canonical(rules)).strip();
        return all.isEmpty() ? Optional.empty() : Optional.of(all);
    }
}
