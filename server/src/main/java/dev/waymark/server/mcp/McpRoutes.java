package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.contract.McpNames;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.EventSource;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.stream.ServerSentEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Streamable HTTP, without sessions: any instance answers any request. */
public final class McpRoutes {
    private static final String ENCODED = "=?base64?";
    private static final String END_OF_ENCODED = "?=";

    /** The parameter that {@code Mcp-Name} repeats, by method. */
    private static final Map<String, String> NAMED = Map.of(
            McpNames.CALL_TOOL, "name",
            McpNames.GET_TASK, "taskId",
            McpNames.UPDATE_TASK, "taskId",
            McpNames.CANCEL_TASK, "taskId");

    private final McpMethods methods;

    private McpRoutes(McpMethods methods) {
        this.methods = methods;
    }

    /**
     * Creates the route.
     *
     * @param readers executes the reads of histories for streams
     * @param failures converts an exception to the caller's error
     */
    public static Route of(
            AgentClient client,
            AgentCatalog agents,
            Executor readers,
            McpSettings settings,
            Function<RuntimeException, HttpProblem> failures) {
        McpRoutes routes = new McpRoutes(new McpMethods(client, agents, readers, settings, failures));
        return Route.post("callMcp", "/mcp", CallerRole.LOOK, routes::post);
    }

    private HttpAnswer post(ApiRequest http) {
        JsonNode message = http.json();
        boolean isAnswer = !message.has("method") && (message.has("result") || message.has("error"));
        if (isAnswer || message.has("method") && !message.has("id")) {
            // Notifications change nothing here: a client ends a request by closing its stream.
            return HttpReply.empty(202);
        }
        try {
            return answer(http, message);
        } catch (RuntimeException e) {
            RpcProblem problem = methods.problem(e);
            JsonNode id = message.path("id");
            return HttpReply.json(problem.httpStatus(), problem.answer(id.isValueNode() ? id : NullNode.getInstance()));
        }
    }

    private HttpAnswer answer(ApiRequest http, JsonNode message) {
        JsonNode version = message.path("params").path(McpNames.META).path(McpNames.PROTOCOL_VERSION);
        if (version.isTextual()) {
            checkHeader(http, McpNames.VERSION_HEADER, version.textValue());
        }
        McpRequest request = McpRequest.read(http.caller(), message, http.header(McpNames.VERSION_HEADER));
        if (request.isModern()) {
            checkHeader(http, McpNames.METHOD_HEADER, request.method());
            Optional.ofNullable(NAMED.get(request.method()))
                    .ifPresent(name -> checkHeader(http, McpNames.NAME_HEADER, request.text(name)));
        }
        McpReply reply = methods.answer(request);
        if (reply instanceof McpReply.Coming coming) {
            return new HttpStream(Map.of(), new Events(coming.messages()));
        }
        return HttpReply.json(200, ((McpReply.Finished) reply).message());
    }

    /** Proxies decide by the headers, so a header must agree with the body. */
    private static void checkHeader(ApiRequest http, String name, String value) {
        String given =
                http.header(name).orElseThrow(() -> RpcProblem.headerMismatch("the header " + name + " is missing"));
        if (!decoded(name, given).equals(value)) {
            throw RpcProblem.headerMismatch(
                    "the header " + name + " says \"" + given + "\", and the body \"" + value + "\"");
        }
    }

    private static String decoded(String name, String value) {
        if (!name.equals(McpNames.NAME_HEADER) || !value.startsWith(ENCODED) || !value.endsWith(END_OF_ENCODED)) {
            return value;
        }
        try {
            String encoded = value.substring(ENCODED.length(), value.length() - END_OF_ENCODED.length());
            return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
            throw RpcProblem.headerMismatch("the header " + name + " is not valid Base64");
        }
    }

    /** Messages as server-sent events. */
    private record Events(MessageSource messages) implements EventSource {
        @Override
        public CompletableFuture<Part> next(Duration most) {
            return messages.next(most).thenApply(part -> new Part(text(part.messages()), part.isLast()));
        }

        private static String text(List<ObjectNode> messages) {
            return messages.stream()
                    .map(message ->
                            ServerSentEvent.message(Optional.empty(), message).text())
                    .collect(Collectors.joining());
        }

        @Override
        public void close() {
            messages.close();
        }
    }
}
