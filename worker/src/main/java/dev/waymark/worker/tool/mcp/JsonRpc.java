package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.Effect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/** JSON-RPC messages, as used by both transports. */
final class JsonRpc {
    /** Limits memory: a small parsed value takes many times the size of its text. */
    static final int MOST_TOKENS = 500_000;

    private static final StreamReadConstraints LIMITS =
            StreamReadConstraints.builder().maxTokenCount(MOST_TOKENS).build();

    static final JsonMapper MAPPER = JsonMapper.builder(
                    JsonFactory.builder().streamReadConstraints(LIMITS).build())
            .build();

    private JsonRpc() {}

    static ObjectNode request(long id, String method, JsonNode params) {
        ObjectNode message = notification(method, params);
        message.put("id", id);
        return message;
    }

    static ObjectNode notification(String method, JsonNode params) {
        ObjectNode message = object();
        message.put("jsonrpc", "2.0").put("method", method);
        if (!params.isEmpty()) {
            message.set("params", params);
        }
        return message;
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ObjectNode thisClient() {
        return object().put("name", "waymark").put("version", "0");
    }

    static JsonNode tree(Json json) {
        return PayloadJson.MAPPER.valueToTree(json);
    }

    /** The responses to what the server required, by its keys. */
    static ObjectNode responses(Suspension answered) {
        ObjectNode responses = object();
        answered.answers().forEach((key, response) -> responses.set(key, tree(response)));
        return responses;
    }

    static JsonNode cancelled(long id, String why) {
        return object().put("requestId", id).put("reason", why);
    }

    static byte[] bytes(JsonNode message) {
        try {
            return MAPPER.writeValueAsBytes(message);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Empty if this is not a message: servers also print other text. */
    static Optional<JsonNode> read(byte[] json) {
        try {
            JsonNode message = MAPPER.readTree(json);
            return Optional.ofNullable(message).filter(JsonNode::isObject);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    static boolean isAnswer(JsonNode message) {
        return message.has("id") && !message.has("method");
    }

    static boolean answers(JsonNode message, long id) {
        return isAnswer(message) && message.path("id").asText().equals(Long.toString(id));
    }

    static RpcAnswer answer(JsonNode message) {
        JsonNode error = message.path("error");
        return error.isObject()
                ? new RpcAnswer.Refusal(
                        error.path("message").asText("refused") + " ("
                                + error.path("code").asText() + ")",
                        Effect.ofRpcError(error.path("code").asInt()),
                        error)
                : new RpcAnswer.Result(message.path("result"));
    }

    /** The reply to a request from the server. Only pings succeed, because the handshake offered no features. */
    static Optional<ObjectNode> reply(JsonNode message) {
        if (!message.has("id") || !message.has("method")) {
            return Optional.empty();
        }
        ObjectNode reply = object().put("jsonrpc", "2.0");
        reply.set("id", message.get("id"));
        if (message.path("method").asText().equals(McpNames.PING)) {
            reply.set("result", object());
        } else {
            reply.set("error", object().put("code", McpNames.METHOD_NOT_FOUND).put("message", "not supported"));
        }
        return Optional.of(reply);
    }
}
