package dev.waymark.testkit.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Code that the servers of OpenAI's two APIs share: address, key, and rules for calls and reasoning. */
abstract class OpenAiApiServer extends ModelServer {
    static final String TOOL_NAME = "[a-zA-Z0-9_-]{1,64}";

    /** Reasoning that may only be sent back to the model that made it. */
    final Set<Issued> issued = ConcurrentHashMap.newKeySet();

    record Issued(String model, String content) {}

    OpenAiApiServer(String path) {
        super(path);
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("OPENAI_BASE_URL", address() + "/v1", "OPENAI_API_KEY", KEY);
    }

    @Override
    boolean isAllowed(Map<String, String> headers) {
        return ("Bearer " + KEY).equals(headers.get("authorization"));
    }

    /** OpenAI accepts any string as arguments; servers that render them into a template do not. */
    static boolean isObject(JsonNode arguments) {
        try {
            return arguments.isTextual() && JSON.readTree(arguments.asText()).isObject();
        } catch (JsonProcessingException e) {
            return false;
        }
    }
}
