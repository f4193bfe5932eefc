package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * Parses the arguments of a call, which providers send as text that the model wrote. Text that is not a JSON object, or
 * that has more than 100,000 tokens, is kept as a string: it matches no tool's schema, so only this call fails, and the
 * model gets the error.
 */
public final class CallArguments {
    private static final String INVALID = "invalid_arguments";

    /** Limits memory: a parsed list of empty objects takes thirty times the size of its text. */
    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder().maxTokenCount(100_000).build();

    private static final JsonFactory PARSERS = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(LIMITS)
            .build();

    /** Keeps the spelling of numbers. */
    private static final JsonMapper AS_SPELLED = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private CallArguments() {}

    public static Json read(String text) {
        if (text.isBlank()) {
            return Json.EMPTY_OBJECT;
        }
        try {
            Json args = Json.of(PayloadJson.MAPPER.readValue(PARSERS.createParser(text), Object.class));
            return args.isObject() || args.isNull() ? nonNull(args) : Json.of(text);
        } catch (IOException | IllegalArgumentException e) {
            return Json.of(text);
        }
    }

    /** The text of the arguments, if writing them in our own form would change the spelling, as of {@code 1.50}. */
    public static Optional<String> spelling(String text, Json args) {
        if (text.isBlank() || !args.isObject()) {
            return Optional.empty();
        }
        try {
            JsonNode spelled = AS_SPELLED.readTree(text);
            return spelled.toString().equals(text(args)) || !spelled.isObject() ? Optional.empty() : Optional.of(text);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    /** Some servers send null for a call without arguments. */
    private static Json nonNull(Json args) {
        return args.isNull() ? Json.EMPTY_OBJECT : args;
    }

    /** The arguments as the text of an object, without spaces, as most models write it. */
    public static String text(Json args) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(sendable(args));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The arguments in the form that providers accept, which is always an object. */
    public static Json sendable(Json args) {
        return args.isObject() ? args : Json.of(Map.of(INVALID, args));
    }
}
