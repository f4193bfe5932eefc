package dev.waymark.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import com.networknt.schema.OutputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialects;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

/**
 * Validates arguments against a tool's input schema (JSON Schema, 2020-12 by default). Schemas are compiled once. A
 * {@code $ref} to another document is not followed: nothing is fetched. Arguments are rejected if the check takes too
 * many steps, because a pattern backtracks or references branch. The limit corresponds to a few seconds.
 */
public final class ToolArguments {

    /** Limits the cache, because reading old histories also adds schemas to it. */
    private static final int MOST_SCHEMAS = 1_000;

    private static final int MOST_ERRORS = 3;
    private static final int LONGEST_REASON = 1_000;

    private static final SchemaRegistry REGISTRY = SchemaRegistry.withDefaultDialect(
            ArrayKeyword.dialect(),
            registry -> registry.schemaCacheEnabled(false)
                    .schemaRegistryConfig(SchemaRegistryConfig.builder()
                            .locale(Locale.ROOT)
                            .regularExpressionFactory(ValidationSteps::regularExpression)
                            .build()));

    /** The beginning of messages from the JDK's {@code URLDecoder}, which is removed. */
    private static final String DECODER = "URLDecoder: ";

    private static final Map<Json, Schema> COMPILED = new ConcurrentHashMap<>();

    /** Whether a schema is valid, for the schemas that {@link #matches} has checked. */
    private static final Map<Json, Boolean> SOUND = new ConcurrentHashMap<>();

    private ToolArguments() {}

    /** Why these arguments do not match the schema, for the model; empty if they do. */
    public static Optional<String> problem(Json schema, Json args) {
        // Arguments that could not be parsed are kept as text.
        return args.value() instanceof String && "object".equals(schema.field("type"))
                ? Optional.of("not valid JSON: expected one object")
                : misfit(compiled(schema), node(args));
    }

    /** Whether these arguments match the schema; empty if the schema is broken or the check takes too long. */
    static Optional<Boolean> matches(Json schema, Json args) {
        try {
            return SOUND.computeIfAbsent(schema, each -> malformation(each).isEmpty())
                    ? Optional.of(validate(compiled(schema), node(args)).isEmpty())
                    : Optional.empty();
        } catch (StackOverflowError | RuntimeException e) {
            return Optional.empty();
        } finally {
            if (SOUND.size() > MOST_SCHEMAS) {
                SOUND.clear();
            }
        }
    }

    /** Why this is not a valid input schema of a tool, which must describe an object; empty if it is. */
    public static Optional<String> schemaProblem(Json schema) {
        return "object".equals(schema.field("type")) ? malformation(schema) : Optional.of("must have type: object");
    }

    /** Why this is not a valid JSON Schema; empty if it is. */
    public static Optional<String> malformation(Json schema) {
        Schema rules =
                REGISTRY.getSchema(SchemaLocation.of(Dialects.getDraft202012().getId()));
        Optional<String> malformed = misfit(rules, node(schema));
        if (malformed.isPresent()) {
            return malformed;
        }
        try {
            compiled(schema).initializeValidators();
            validate(compiled(schema), node(Json.EMPTY_OBJECT));
            return Optional.empty();
        } catch (StackOverflowError e) {
            return Optional.of("a $ref refers to itself");
        } catch (RuntimeException e) {
            return Optional.of(shortened(reason(e)));
        }
    }

    /** The message of the root cause, without Java's class names. */
    private static String reason(RuntimeException failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String words = String.valueOf(root.getMessage());
        if (root instanceof PatternSyntaxException broken) {
            return "not a regular expression: " + broken.getPattern() + " (" + broken.getDescription() + ")";
        }
        if (root instanceof IOException) {
            return "a $ref refers to another document: " + words;
        }
        return words.startsWith(DECODER) ? "a $ref is not a reference: " + words.substring(DECODER.length()) : words;
    }

    /** Why a tool's result does not match its output schema, for the model; empty if it does. */
    public static Optional<String> outputProblem(Json schema, String result) {
        try {
            return misfit(compiled(schema), PayloadJson.MAPPER.readTree(result));
        } catch (JsonProcessingException e) {
            return Optional.of("it is not JSON");
        }
    }

    /** Treats a stack overflow as a mismatch. Otherwise it would count as transient and be retried forever. */
    private static Optional<String> misfit(Schema schema, JsonNode value) {
        try {
            return words(validate(schema, value));
        } catch (StackOverflowError e) {
            return Optional.of("it is nested too deeply for its schema, or the schema refers to itself");
        } catch (ValidationSteps.ExceededException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static List<Error> validate(Schema schema, JsonNode value) {
        return ValidationSteps.count(
                schema.createExecutionContext().getExecutionConfig(),
                context -> schema.validate(context, value, OutputFormat.DEFAULT));
    }

    private static Schema compiled(Json schema) {
        Schema known = COMPILED.get(schema);
        if (known != null) {
            return known;
        }
        if (COMPILED.size() >= MOST_SCHEMAS) {
            COMPILED.clear();
        }
        Schema fresh = REGISTRY.getSchema(node(schema));
        COMPILED.put(schema, fresh);
        return fresh;
    }

    private static Optional<String> words(List<Error> errors) {
        if (errors.isEmpty()) {
            return Optional.empty();
        }
        String words = errors.stream()
                .limit(MOST_ERRORS)
                .map(error -> {
                    String place = String.valueOf(error.getInstanceLocation());
                    return place.isEmpty() ? error.getMessage() : place + ": " + error.getMessage();
                })
                .collect(Collectors.joining("; "));
        return Optional.of(shortened(words));
    }

    /** Messages quote the schema and the arguments, which may be long. A cut must not leave half a surrogate pair. */
    private static String shortened(String words) {
        String shortened = words.length() > LONGEST_REASON ? words.substring(0, LONGEST_REASON) + "…" : words;
        return new String(shortened.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private static JsonNode node(Json json) {
        return PayloadJson.MAPPER.valueToTree(json);
    }
}
