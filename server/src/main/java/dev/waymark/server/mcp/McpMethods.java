package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.http.HttpProblem;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Answers the requests of clients over any transport. Stateless. */
final class McpMethods {
    private static final String INSTRUCTIONS =
            "Each agent is a tool. An agent may work for a long time, and may have to"
                    + " wait for a person. A result that says so names its thread: call the tool `result` with it later.";

    /** How long clients may keep the list of tools. */
    private static final int TOOLS_TTL_MILLIS = 60_000;

    private final Function<RuntimeException, HttpProblem> failures;
    private final ThreadTools tools;
    private final ThreadTasks tasks;

    /**
     * @param readers executes the reads of histories for streams
     * @param failures converts an exception to the caller's error
     */
    McpMethods(
            AgentClient client,
            AgentCatalog agents,
            Executor readers,
            McpSettings settings,
            Function<RuntimeException, HttpProblem> failures) {
        this.failures = failures;
        FrontEndThreads threads = new FrontEndThreads(client, agents, readers, ThreadTools.OPERATION);
        this.tools = new ThreadTools(client, agents, threads, readers, settings);
        this.tasks = new ThreadTasks(client, threads, settings.clock());
    }

    /** Answers a request. A failure is thrown, or is the last message of a stream. */
    McpReply answer(McpRequest request) {
        McpReply reply = switch (request.method()) {
            case McpNames.CALL_TOOL -> tools.call(request);
            default -> new McpReply.Finished(request.answer(result(request)));
        };
        return reply instanceof McpReply.Coming coming
                ? new McpReply.Coming(new AnsweredMessages(coming.messages(), request.id(), failures))
                : reply;
    }

    /** The error that answers a failed request. */
    RpcProblem problem(RuntimeException failure) {
        return RpcProblem.of(failure, failures);
    }

    private ObjectNode result(McpRequest request) {
        return switch (request.method()) {
            case McpNames.LIST_TOOLS -> cached(request, tools.list(), TOOLS_TTL_MILLIS, "public");
            default -> request.isModern() ? modern(request) : handshake(request);
        };
    }

    private ObjectNode modern(McpRequest request) {
        return switch (request.method()) {
            case McpNames.DISCOVER -> cached(request, discovered(), TOOLS_TTL_MILLIS, "public");
            case McpNames.GET_TASK -> tasks.get(request);
            case McpNames.UPDATE_TASK -> tasks.update(request);
            case McpNames.CANCEL_TASK -> tasks.cancel(request);
            default -> throw RpcProblem.unknownMethod(request);
        };
    }

    private static ObjectNode handshake(McpRequest request) {
        return switch (request.method()) {
            case McpNames.INITIALIZE -> initialized(request);
            case McpNames.PING -> PayloadJson.MAPPER.createObjectNode();
            default -> throw RpcProblem.unknownMethod(request);
        };
    }

    private static ObjectNode discovered() {
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.putArray("supportedVersions").add(McpNames.MODERN);
        ObjectNode capabilities = result.putObject("capabilities");
        capabilities.putObject("tools");
        capabilities.putObject("resources").put("subscribe", true);
        capabilities.putObject("extensions").putObject(McpNames.TASKS);
        return result.put("instructions", INSTRUCTIONS);
    }

    private static ObjectNode initialized(McpRequest request) {
        String offered = request.params().path("protocolVersion").asText();
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.put("protocolVersion", McpNames.HANDSHAKE.contains(offered) ? offered : McpNames.HANDSHAKE.get(0));
        ObjectNode capabilities = result.putObject("capabilities");
        capabilities.putObject("tools");
        result.set("serverInfo", McpRequest.serverInfo());
        return result.put("instructions", INSTRUCTIONS);
    }

    private static ObjectNode cached(McpRequest request, ObjectNode result, int ttlMillis, String scope) {
        return request.isModern() ? result.put("ttlMs", ttlMillis).put("cacheScope", scope) : result;
    }
}
