package dev.waymark.tool;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Derives the JSON Schema of a record: strings, numbers, booleans, enums, {@link Instant}, {@link LocalDate}, {@link
 * UUID}, {@link Json} for any value, nested records, lists and sets of these, and maps from strings to these. Objects
 * have no other properties. Components are required unless they are {@code Optional}, which may also be null. {@code
 * @JsonPropertyDescription} adds a description, and {@code @JsonProperty} another name. Of the annotations of Jakarta Validation, {@code @Min}, {@code @Max}, {@code @Positive},
 * {@code @PositiveOrZero}, {@code @Size}, {@code @NotEmpty}, {@code @NotBlank} and {@code @Pattern} are part of the
 * schema.
 */
public final class RecordSchema {
    private static final Map<Class<?>, TextForm> TEXT_FORMS = Map.of(
            Instant.class,
            new TextForm("date-time", "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$"),
            LocalDate.class,
            new TextForm("date", "^\\d{4}-\\d{2}-\\d{2}$"),
            UUID.class,
            new TextForm("uuid", "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"));

    private RecordSchema() {}

    /** A type that is written as text. Validators need not check the format, so the pattern has the same form. */
    private record TextForm(String format, String pattern) {}

    /**
     * Returns the schema.
     *
     * @throws IllegalArgumentException if a component's type has no schema; the message names the component
     */
    public static Json of(Class<? extends Record> type) {
        return Json.of(record(type, Set.of()));
    }

    /**
     * Reads a value as a record of this type, strictly, as {@link JavaTool} reads arguments.
     *
     * @throws IllegalArgumentException if it is no such record; the message names the component
     */
    public static <A extends Record> A read(Json value, Class<A> type) {
        return ArgumentReader.read(value, type);
    }

    /** @param outer the records that contain this one */
    private static Map<String, Object> record(Class<?> type, Set<Class<?>> outer) {
        Set<Class<?>> within = new HashSet<>(outer);
        within.add(type);
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            JsonProperty renamed = component.getAccessor().getAnnotation(JsonProperty.class);
            String name = renamed == null || renamed.value().isEmpty() ? component.getName() : renamed.value();
            String place = type.getSimpleName() + "." + component.getName();
            Map<String, Object> property = schema(component.getGenericType(), place, within);
            property.putAll(SchemaConstraints.of(component));
            if (component.getType() == Optional.class) {
                property = orNull(property);
            }
            JsonPropertyDescription words = component.getAccessor().getAnnotation(JsonPropertyDescription.class);
            if (words != null) {
                property.put("description", words.value());
            }
            properties.put(name, property);
            if (component.getType() != Optional.class) {
                required.add(name);
            }
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        schema.put("additionalProperties", false);
        return schema;
    }

    /** Models write null for omitted properties. */
    private static Map<String, Object> orNull(Map<String, Object> schema) {
        Map<String, Object> any = new LinkedHashMap<>();
        any.put("anyOf", List.of(schema, Map.of("type", "null")));
        return schema.isEmpty() ? schema : any;
    }

    private static Map<String, Object> schema(Type type, String place, Set<Class<?>> within) {
        Map<String, Object> schema = new LinkedHashMap<>();
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == Optional.class) {
                return schema(arguments[0], place, within);
            }
            if (generic.getRawType() == List.class || generic.getRawType() == Set.class) {
                schema.put("type", "array");
                schema.put("items", schema(arguments[0], place, within));
                if (generic.getRawType() == Set.class) {
                    schema.put("uniqueItems", true);
                }
                return schema;
            }
            if (generic.getRawType() == Map.class && arguments[0] == String.class) {
                schema.put("type", "object");
                schema.put("additionalProperties", schema(arguments[1], place, within));
                return schema;
            }
        } else if (type == Json.class) {
            return schema;
        } else if (type instanceof Class<?> plain) {
            if (within.contains(plain)) {
                throw new IllegalArgumentException("no JSON schema for " + place + ": a " + plain.getSimpleName()
                        + " must not contain another one. Use Json for a part of any form");
            }
            if (plain.isRecord()) {
                return record(plain, within);
            }
            if (plain.isEnum()) {
                schema.put("type", "string");
                schema.put(
                        "enum",
                        Arrays.stream(plain.getEnumConstants())
                                .map(RecordSchema::wireName)
                                .toList());
                return schema;
            }
            TextForm form = TEXT_FORMS.get(plain);
            if (form != null) {
                schema.put("type", "string");
                schema.put("format", form.format());
                schema.put("pattern", form.pattern());
                return schema;
            }
            Optional<String> name = simple(plain);
            if (name.isPresent()) {
                schema.put("type", name.get());
                if (plain == int.class || plain == Integer.class) {
                    schema.put("minimum", Integer.MIN_VALUE);
                    schema.put("maximum", Integer.MAX_VALUE);
                }
                return schema;
            }
        }
        throw new IllegalArgumentException("no JSON schema for " + place + ": " + type.getTypeName());
    }

    private static Optional<String> simple(Class<?> type) {
        if (type == String.class) {
            return Optional.of("string");
        }
        if (type == boolean.class || type == Boolean.class) {
            return Optional.of("boolean");
        }
        if (List.of(int.class, Integer.class, long.class, Long.class, BigInteger.class)
                .contains(type)) {
            return Optional.of("integer");
        }
        if (List.of(double.class, Double.class, BigDecimal.class).contains(type)) {
            return Optional.of("number");
        }
        return Optional.empty();
    }

    private static Object wireName(Object constant) {
        return PayloadJson.MAPPER.convertValue(constant, String.class);
    }
}
