package dev.waymark.tool;

import dev.waymark.conversation.value.Json;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Checks the JSON Schemas that select arguments for rules and grants. JSON Schema ignores unknown keywords, and a
 * keyword such as {@code maximum} holds for every value that is not a number, so a mistake could match all arguments.
 */
public final class ConditionSchema {
    private static final String TYPE = "type";
    private static final String PROPERTIES = "properties";
    private static final String REQUIRED = "required";

    /** A type of values, with the keywords that constrain only values of this type. */
    private enum ValueType {
        NUMBER(Number.class, "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"),
        TEXT(String.class, "maxLength", "minLength", "pattern"),
        LIST(
                List.class,
                "items",
                "prefixItems",
                "additionalItems",
                "unevaluatedItems",
                "contains",
                "maxItems",
                "minItems",
                "uniqueItems"),
        OBJECT(
                Map.class,
                PROPERTIES,
                "patternProperties",
                "additionalProperties",
                "unevaluatedProperties",
                "propertyNames",
                "maxProperties",
                "minProperties",
                REQUIRED,
                "dependentRequired",
                "dependentSchemas",
                "dependencies");

        private final Class<?> type;
        private final Set<String> keywords;

        ValueType(Class<?> type, String... keywords) {
            this.type = type;
            this.keywords = Set.of(keywords);
        }

        private boolean constrains(Map<?, ?> schema) {
            return schema.keySet().stream().anyMatch(keywords::contains);
        }
    }

    private static final Set<String> EXACT = Set.of("const", "enum");
    private static final Set<String> APPLIED =
            Set.of("allOf", "anyOf", "oneOf", "not", "then", "else", "$ref", "$dynamicRef");
    private static final Set<String> SILENT = Set.of(
            "$schema",
            "$id",
            "$anchor",
            "$dynamicAnchor",
            "$vocabulary",
            "$comment",
            "$defs",
            "definitions",
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "readOnly",
            "writeOnly",
            "format",
            "contentEncoding",
            "contentMediaType",
            "contentSchema",
            "if",
            "maxContains",
            "minContains");

    private ConditionSchema() {}

    /**
     * Why a rule or a grant can't have this schema; empty if it can.
     *
     * @param input the schema of the tool
     */
    public static Optional<String> problem(Json schema, Json input) {
        return ToolArguments.malformation(schema)
                .map(why -> "it is not a JSON Schema: " + why)
                .or(() -> gap(schema, input));
    }

    /** Why a well-formed schema may match arguments that its author did not intend; empty if it can't. */
    static Optional<String> gap(Json schema, Json input) {
        Map<?, ?> properties = map(schema.field(PROPERTIES));
        Optional<String> gap = unknownKeyword("", schema.value());
        for (Map.Entry<?, ?> property : properties.entrySet()) {
            gap = gap.or(() -> unknownKeyword(PROPERTIES + "." + property.getKey() + ": ", property.getValue()));
        }
        // Arguments are always an object.
        boolean constrains = map(schema.value()).entrySet().stream()
                .filter(entry -> !entry.getKey().equals(TYPE))
                .anyMatch(entry -> entry.getKey().equals(PROPERTIES)
                        ? properties.values().stream().anyMatch(ConditionSchema::isConstraint)
                        : constrains(String.valueOf(entry.getKey()), entry.getValue()));
        return gap.or(() -> constrains
                        ? Optional.empty()
                        : Optional.of("it constrains no argument, so that any would match"))
                .or(() -> unknownArgument(schema, input));
    }

    /** @param place where the schema is in the whole one; empty for the whole one */
    private static Optional<String> unknownKeyword(String place, @Nullable Object schema) {
        return map(schema).keySet().stream()
                .map(String::valueOf)
                .filter(word -> !isKeyword(word))
                .findFirst()
                .map(word -> place + "JSON Schema has no keyword " + word
                        + (place.isEmpty() ? ". If it is an argument, write properties: { " + word + ": … }" : ""));
    }

    private static boolean isConstraint(@Nullable Object schema) {
        return Boolean.FALSE.equals(schema)
                || map(schema).entrySet().stream()
                        .anyMatch(entry -> constrains(String.valueOf(entry.getKey()), entry.getValue()));
    }

    private static boolean isKeyword(String word) {
        return word.equals(TYPE)
                || EXACT.contains(word)
                || APPLIED.contains(word)
                || SILENT.contains(word)
                || isAny(type -> type.keywords.contains(word));
    }

    private static boolean isAny(Predicate<ValueType> is) {
        for (ValueType type : ValueType.values()) {
            if (is.test(type)) {
                return true;
            }
        }
        return false;
    }

    private static boolean constrains(String keyword, @Nullable Object value) {
        boolean isEmpty = Boolean.TRUE.equals(value) && !keyword.equals("uniqueItems")
                || value instanceof Map<?, ?> map && map.isEmpty() && !keyword.equals("not")
                || value instanceof List<?> list && list.isEmpty();
        return EXACT.contains(keyword) || (!SILENT.contains(keyword) && !isEmpty);
    }

    /** An argument that the schema names, and that a call of the tool can't have. */
    private static Optional<String> unknownArgument(Json schema, Json input) {
        if (!Boolean.FALSE.equals(input.field("additionalProperties")) || input.field("patternProperties") != null) {
            return Optional.empty();
        }
        Map<?, ?> known = map(input.field(PROPERTIES));
        Set<Object> named = new LinkedHashSet<>(map(schema.field(PROPERTIES)).keySet());
        if (schema.field(REQUIRED) instanceof List<?> required) {
            named.addAll(required);
        }
        return named.stream()
                .filter(name -> !known.containsKey(name))
                .findFirst()
                .map(name -> "the tool has no argument " + name + ", only " + known.keySet());
    }

    /**
     * Whether a schema that allows calls holds for these arguments: they match it, and contain each argument that it
     * names, with a value of a type that its keywords constrain. Empty if the check fails.
     */
    static Optional<Boolean> allows(Json schema, Json args) {
        return ToolArguments.matches(schema, args).map(matches -> matches && speaksOf(schema, args));
    }

    private static boolean speaksOf(Json schema, Json args) {
        Map<?, ?> given = map(args.value());
        return map(schema.field(PROPERTIES)).entrySet().stream()
                .allMatch(property -> given.containsKey(property.getKey())
                        && isConstrained(map(property.getValue()), given.get(property.getKey())));
    }

    private static boolean isConstrained(Map<?, ?> schema, @Nullable Object value) {
        return schema.keySet().stream().anyMatch(EXACT::contains)
                || !isAny(type -> type.constrains(schema))
                || isAny(type -> type.constrains(schema) && type.type.isInstance(value));
    }

    private static Map<?, ?> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? map : Map.of();
    }
}
