package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.util.Map;

/**
 * A call's arguments, which providers send as text that a model wrote. Text that is not a JSON object is kept as it is: it
 * fits no tool's schema, so the call fails as invalid input, which the model is told, and the rest of the turn goes on.
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

    /** Of a call without parameters, some servers send null. */
    private static Json nonNull(Json args) {
        return args.isNull() ? Json.EMPTY_OBJECT : args;
    }

    /** As they go back to a provider, which takes objects only. */
    public static Json sendable(Json args) {
        return args.isObject() ? args : Json.of(Map.of(INVALID, args));
    }
}
