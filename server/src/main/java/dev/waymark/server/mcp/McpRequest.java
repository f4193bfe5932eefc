package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.identity.Caller;
import java.util.List;
import java.util.Optional;

/**
 * A request of a client.
 *
 * @param id a text or an integer
 * @param params an object, or a missing node
 * @param isModern whether the request names its version and capabilities itself; otherwise, the client negotiated its
 *     version in a handshake, which this server does not remember
 */
record McpRequest(Caller caller, JsonNode id, String method, JsonNode params, boolean isModern) {
    static final String NAME = "waymark";

    /**
     * Reads a request.
     *
     * @param headerVersion the version that the transport names, if it names one
     * @throws RpcProblem if the message is not a request, or its version is not supported
     */
    static McpRequest read(Caller caller, JsonNode message, Optional<String> headerVersion) {
        JsonNode id = message.path("id");
        if (!message.path("jsonrpc").asText().equals("2.0")
                || !message.path("method").isTextual()
                || !(id.isTextual() || id.isIntegralNumber())) {
            throw RpcProblem.invalidRequest(
                    McpNames.INVALID_REQUEST,
                    "not a JSON-RPC 2.0 request: it needs jsonrpc, an id that is a text or an integer, and a method");
        }
        JsonNode params = message.path("params");
        if (!params.isMissingNode() && !params.isObject()) {
            throw RpcProblem.invalidRequest(McpNames.INVALID_PARAMS, "params must be an object");
        }
        JsonNode meta = params.path(McpNames.META);
        boolean isModern = meta.has(McpNames.PROTOCOL_VERSION)
                || meta.has(McpNames.CLIENT_CAPABILITIES)
                || headerVersion.filter(McpNames.MODERN::equals).isPresent();
        if (isModern) {
            checkMeta(meta);
        } else {
            headerVersion
                    .filter(version -> !McpNames.HANDSHAKE.contains(version))
                    .ifPresent(version -> {
                        throw RpcProblem.unsupportedVersion(version, McpNames.HANDSHAKE);
                    });
        }
        return new McpRequest(caller, id, message.path("method").textValue(), params, isModern);
    }

    private static void checkMeta(JsonNode meta) {
        JsonNode version = meta.path(McpNames.PROTOCOL_VERSION);
        if (!version.isTextual()) {
            throw RpcProblem.incompleteMeta("_meta needs " + McpNames.PROTOCOL_VERSION);
        }
        if (!meta.path(McpNames.CLIENT_CAPABILITIES).isObject()) {
            throw RpcProblem.incompleteMeta("_meta needs " + McpNames.CLIENT_CAPABILITIES + ", an object");
        }
        if (!version.textValue().equals(McpNames.MODERN)) {
            throw RpcProblem.unsupportedVersion(version.textValue(), List.of(McpNames.MODERN));
        }
    }

    static ObjectNode envelope() {
        return PayloadJson.MAPPER.createObjectNode().put("jsonrpc", "2.0");
    }

    static ObjectNode notification(String method, ObjectNode params) {
        ObjectNode message = envelope().put("method", method);
        message.set("params", params);
        return message;
    }

    static ObjectNode serverInfo() {
        String version = McpRequest.class.getPackage().getImplementationVersion();
        return PayloadJson.MAPPER
                .createObjectNode()
                .put("name", NAME)
                .put("version", version == null ? "development" : version);
    }

    /** The successful answer to this request. */
    ObjectNode answer(ObjectNode result) {
        if (isModern) {
            if (!result.has("resultType")) {
                result.put("resultType", "complete");
            }
            result.withObjectProperty(McpNames.META).set(McpNames.SERVER_INFO, serverInfo());
        }
        ObjectNode message = envelope();
        message.set("id", id);
        message.set("result", result);
        return message;
    }

    /** A parameter that must be a text. */
    String text(String name) {
        JsonNode value = params.path(name);
        if (!value.isTextual()) {
            throw RpcProblem.invalidParams(ProblemType.BAD_INPUT, name + " must be a text");
        }
        return value.textValue();
    }

    Optional<String> optionalText(String name) {
        return Optional.ofNullable(params.path(name).textValue());
    }

    private JsonNode meta(String name) {
        return params.path(McpNames.META).path(name);
    }

    Optional<JsonNode> progressToken() {
        return Optional.of(meta(McpNames.PROGRESS_TOKEN))
                .filter(token -> token.isTextual() || token.isIntegralNumber());
    }

    Optional<String> idempotencyKey() {
        return Optional.of(meta(McpNames.IDEMPOTENCY_KEY))
                .filter(key -> !key.isMissingNode())
                .map(JsonNode::asText);
    }

    private JsonNode capabilities() {
        return isModern ? meta(McpNames.CLIENT_CAPABILITIES) : MissingNode.getInstance();
    }

    boolean offersTasks() {
        return capabilities().path("extensions").has(McpNames.TASKS);
    }

    /** Whether the client can show forms. A client that declares elicitation without a kind can show forms only. */
    boolean offersForms() {
        JsonNode elicitation = capabilities().path("elicitation");
        return elicitation.isObject() && (elicitation.isEmpty() || elicitation.has("form"));
    }

    /** Converts a part of the parameters. Refuses values that are nested too deeply, and numbers that are too large. */
    static Json json(JsonNode part) {
        try {
            return Json.of(PayloadJson.MAPPER.convertValue(part, Object.class));
        } catch (IllegalArgumentException e) {
            throw RpcProblem.invalidParams(ProblemType.BAD_INPUT, String.valueOf(e.getMessage()));
        }
    }
}
