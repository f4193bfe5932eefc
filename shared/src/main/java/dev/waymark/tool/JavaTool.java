package dev.waymark.tool;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A tool from a record of arguments and a lambda. The input schema is derived from the record: strings, numbers,
 * booleans, enums, {@link Json} for any value, nested records, lists of these and maps from strings to these.
 * Components are required unless they are {@code Optional}; {@code @JsonPropertyDescription} describes one.
 *
 * <pre>{@code
 * record Forecast(String city, Optional<Integer> days) {}
 *
 * JavaTool<Forecast> forecast = JavaTool.of(
 *                 "forecast", "The weather to come", Forecast.class, (args, context) -> "Rain in " + args.city())
 *         .safeToRetry();
 * }</pre>
 *
 * @param <A> the type of the arguments
 */
public final class JavaTool<A extends Record> implements Tool {

    private final ToolSpec spec;
    private final Class<A> args;
    private final Handler<A> handler;
    private final Optional<Verifier<A>> verifier;

    /** Executes a call, see {@link Tool#run}. */
    @FunctionalInterface
    public interface Handler<A> {
        String run(A args, ToolContext context) throws Exception;
    }

    /** Checks the outcome of a lost call, see {@link Tool#verify}. */
    @FunctionalInterface
    public interface Verifier<A> {
        Verdict verify(A args, ToolContext context) throws Exception;
    }

    private JavaTool(ToolSpec spec, Class<A> args, Handler<A> handler, Optional<Verifier<A>> verifier) {
        this.spec = spec;
        this.args = args;
        this.handler = handler;
        this.verifier = verifier;
    }

    /** A side-effecting tool with the default timeout. */
    public static <A extends Record> JavaTool<A> of(
            String name, String description, Class<A> args, Handler<A> handler) {
        ToolSpec spec = ToolSpec.java(name)
                .describedAs(description, Json.of(schema(args)))
                .build();
        return new JavaTool<>(spec, args, handler, Optional.empty());
    }

    /** Declares that running the tool twice is harmless. */
    public JavaTool<A> safeToRetry() {
        return with(spec.with().safeToRetry());
    }

    public JavaTool<A> withTimeout(Duration timeout) {
        return with(spec.with().timeout(timeout));
    }

    /** Requires approval of every call by a person. */
    public JavaTool<A> approved() {
        return with(spec.with().approved());
    }

    /** A repeated call with the same arguments returns the first success of the thread. */
    public JavaTool<A> deduplicated() {
        return with(spec.with().deduplicated());
    }

    /** A person settles lost calls whose outcome is unknown. */
    public JavaTool<A> askingOnUnknown() {
        return with(spec.with().askingOnUnknown());
    }

    /** Declares that the called system deduplicates by {@link ToolContext#idempotencyKey}. */
    public JavaTool<A> honouringKey() {
        return with(spec.with().honouringKey());
    }

    /** Adds a check whether a lost call took effect. */
    public JavaTool<A> verifiedBy(Verifier<A> check) {
        return new JavaTool<>(spec.with().verifiesItself().build(), args, handler, Optional.of(check));
    }

    /**
     * Declares that the check forbids what it does not find: after {@link Verdict#notLanded} the called system refuses
     * the lost call, however late it arrives, for example by its idempotency key or fencing token.
     */
    public JavaTool<A> forbiddingByVerify() {
        return with(spec.with().forbiddingByVerify());
    }

    private JavaTool<A> with(ToolSpec.Builder changed) {
        return new JavaTool<>(changed.build(), args, handler, verifier);
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public String run(Json arguments, ToolContext context) throws Exception {
        return handler.run(PayloadJson.MAPPER.convertValue(arguments.value(), args), context);
    }

    @Override
    public Verdict verify(Json arguments, ToolContext context) throws Exception {
        return verifier.isPresent()
                ? verifier.get().verify(PayloadJson.MAPPER.convertValue(arguments.value(), args), context)
                : Verdict.unknown();
    }

    private static Map<String, Object> schema(Class<?> type) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            JsonProperty renamed = component.getAccessor().getAnnotation(JsonProperty.class);
            String name = renamed == null || renamed.value().isEmpty() ? component.getName() : renamed.value();
            String place = type.getSimpleName() + "." + component.getName();
            Map<String, Object> property = schema(component.getGenericType(), place);
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
        return schema;
    }

    private static Map<String, Object> schema(Type type, String place) {
        Map<String, Object> schema = new LinkedHashMap<>();
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == Optional.class) {
                return schema(arguments[0], place);
            }
            if (generic.getRawType() == List.class) {
                schema.put("type", "array");
                schema.put("items", schema(arguments[0], place));
                return schema;
            }
            if (generic.getRawType() == Map.class && arguments[0] == String.class) {
                schema.put("type", "object");
                schema.put("additionalProperties", schema(arguments[1], place));
                return schema;
            }
        } else if (type == Json.class) {
            return schema;
        } else if (type instanceof Class<?> plain) {
            if (plain.isRecord()) {
                return schema(plain);
            }
            if (plain.isEnum()) {
                schema.put("type", "string");
                schema.put(
                        "enum",
                        Arrays.stream(plain.getEnumConstants())
                                .map(JavaTool::wireName)
                                .toList());
                return schema;
            }
            Optional<String> name = simple(plain);
            if (name.isPresent()) {
                schema.put("type", name.get());
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
