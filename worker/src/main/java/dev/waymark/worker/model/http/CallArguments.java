package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.util.Map;

/**
 * Parses the arguments of a call, which providers send as text that the model wrote. Text that is not a JSON object is
 * kept as a string: it matches no tool's schema, so only this call fails, and the model is told.
 */
public final class CallArguments {
    private static final String INVALID = "invalid_arguments";

    private CallArguments() {}

    public static Json read(String text) {
        if (text.isBlank()) {
            return Json.EMPTY_OBJECT;
        }
        try {
            Json args = Json.of(PayloadJson.MAPPER.readValue(text, Object.class));
            return args.isObject() || args.isNull() ? nonNull(args) : Json.of(text);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Json.of(text);
        }
    }

    /** Some servers send null for a call without arguments. */
    private static Json nonNull(Json args) {
        return args.isNull() ? Json.EMPTY_OBJECT : args;
    }

    /** The arguments in the form that providers accept, which is always an object. */
    public static Json sendable(Json args) {
        return args.isObject() ? args : Json.of(Map.of(INVALID, args));
    }
}
