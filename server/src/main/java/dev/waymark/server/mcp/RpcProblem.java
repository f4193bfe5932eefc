package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpProblem;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A request that is answered with an error of JSON-RPC. Clients tell errors of one code apart by {@code data.type}. */
final class RpcProblem extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int INTERNAL = 500;

    private final int code;
    private final int httpStatus;
    private final transient Optional<ObjectNode> data;

    private RpcProblem(int code, int httpStatus, String message, Optional<ObjectNode> data) {
        super(message);
        this.code = code;
        this.httpStatus = httpStatus;
        this.data = data;
    }

    static RpcProblem invalidParams(String type, String message) {
        return new RpcProblem(McpNames.INVALID_PARAMS, 200, message, Optional.of(typed(type)));
    }

    /** A message that is not a request of the protocol. */
    static RpcProblem invalidRequest(int code, String message) {
        return new RpcProblem(code, 400, message, Optional.empty());
    }

    static RpcProblem incompleteMeta(String message) {
        return new RpcProblem(McpNames.INVALID_PARAMS, 400, message, Optional.empty());
    }

    static RpcProblem unknownMethod(McpRequest request) {
        return new RpcProblem(
                McpNames.METHOD_NOT_FOUND,
                request.isModern() ? 404 : 200,
                "no such method: " + request.method(),
                Optional.empty());
    }

    static RpcProblem headerMismatch(String message) {
        return new RpcProblem(McpNames.HEADER_MISMATCH, 400, message, Optional.empty());
    }

    static RpcProblem unsupportedVersion(String requested, List<String> supported) {
        ObjectNode data = PayloadJson.MAPPER.createObjectNode();
        supported.forEach(data.putArray("supported")::add);
        data.put("requested", requested);
        return new RpcProblem(
                McpNames.UNSUPPORTED_VERSION, 400, "unsupported protocol version: " + requested, Optional.of(data));
    }

    /** The client has not declared the extension for tasks. */
    static RpcProblem missingTasks() {
        ObjectNode data = PayloadJson.MAPPER.createObjectNode();
        data.putObject("requiredCapabilities").putObject("extensions").putObject(McpNames.TASKS);
        return new RpcProblem(
                McpNames.MISSING_CAPABILITY, 400, "requires the capability " + McpNames.TASKS, Optional.of(data));
    }

    /**
     * The problem of a failed operation. A wrong value in the request is an invalid parameter; any other problem has its
     * HTTP status as its code, because the codes below zero belong to the protocol.
     */
    static RpcProblem of(HttpProblem problem) {
        int status = problem.status();
        ObjectNode data = typed(problem.code());
        problem.remedy().ifPresent(words -> data.put("remedy", words));
        int code = List.of(400, 404).contains(status)
                ? McpNames.INVALID_PARAMS
                : status == INTERNAL ? McpNames.INTERNAL_ERROR : status;
        String message =
                status == INTERNAL ? "internal error; see the server's log" : String.valueOf(problem.getMessage());
        return new RpcProblem(code, 200, message, Optional.of(data));
    }

    /** @param failures converts an exception to the caller's error */
    static RpcProblem of(RuntimeException failure, Function<RuntimeException, HttpProblem> failures) {
        if (failure instanceof RpcProblem known) {
            return known;
        }
        return of(failure instanceof HttpProblem known ? known : failures.apply(failure));
    }

    private static ObjectNode typed(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }

    /** The status of an HTTP answer with this error. */
    int httpStatus() {
        return httpStatus;
    }

    /** @param id the id of the request; null if the message has none */
    ObjectNode answer(JsonNode id) {
        ObjectNode message = McpRequest.envelope();
        message.set("id", id);
        ObjectNode error = message.putObject("error").put("code", code).put("message", getMessage());
        data.ifPresent(more -> error.set("data", more));
        return message;
    }
}
