package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Sends requests of the Model Context Protocol, as any program could. */
record McpCaller(HttpCaller http, boolean isModern, String capabilities) {
    static final String MODERN = "2026-07-28";
    private static final String TASKS = "'extensions':{'io.modelcontextprotocol/tasks':{}}";
    private static final String FORMS = "'elicitation':{}";
    private static final AtomicInteger IDS = new AtomicInteger();

    static McpCaller handshake(HttpCaller http) {
        return new McpCaller(http, false, "");
    }

    static McpCaller plain(HttpCaller http) {
        return new McpCaller(http, true, "");
    }

    static McpCaller withForms(HttpCaller http) {
        return new McpCaller(http, true, FORMS);
    }

    static McpCaller withTasks(HttpCaller http) {
        return new McpCaller(http, true, FORMS + "," + TASKS);
    }

    static McpCaller withTasksOnly(HttpCaller http) {
        return new McpCaller(http, true, TASKS);
    }

    McpCaller as(String token) {
        return new McpCaller(http.as(token), isModern, capabilities);
    }

    McpCaller at(ApiServer server) {
        return new McpCaller(http.at(server), isModern, capabilities);
    }

    static JsonNode json(String text) {
        try {
            return PayloadJson.MAPPER.readTree(text.replace('\'', '"'));
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    ObjectNode message(String method, JsonNode params) {
        ObjectNode message = PayloadJson.MAPPER.createObjectNode();
        message.put("jsonrpc", "2.0").put("id", IDS.incrementAndGet()).put("method", method);
        ObjectNode sent = params.deepCopy();
        if (isModern) {
            ObjectNode meta = sent.withObjectProperty("_meta");
            meta.put("io.modelcontextprotocol/protocolVersion", MODERN);
            meta.set("io.modelcontextprotocol/clientCapabilities", json("{" + capabilities + "}"));
        }
        message.set("params", sent);
        return message;
    }

    HttpRequest.Builder posting(ObjectNode message) {
        HttpRequest.Builder request = http.request("/mcp")
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(message.toString()));
        if (isModern) {
            request.header("MCP-Protocol-Version", MODERN)
                    .header("Mcp-Method", message.path("method").asText());
            JsonNode params = message.path("params");
            for (String name : List.of("name", "uri", "taskId")) {
                if (params.path(name).isTextual()) {
                    request.header("Mcp-Name", params.path(name).textValue());
                }
            }
        }
        return request;
    }

    /** Sends a request, and returns all messages of the answer. */
    List<JsonNode> messages(String method, JsonNode params) throws IOException, InterruptedException {
        ObjectNode message = message(method, params);
        HttpResponse<String> response =
                http.http().send(posting(message).build(), HttpResponse.BodyHandlers.ofString());
        List<JsonNode> messages = new ArrayList<>();
        if (response.body().startsWith("{")) {
            messages.add(PayloadJson.MAPPER.readTree(response.body()));
        } else {
            for (String line : response.body().split("\n")) {
                if (line.startsWith("data: ")) {
                    messages.add(PayloadJson.MAPPER.readTree(line.substring("data: ".length())));
                }
            }
        }
        assertThat(messages).as(response.statusCode() + " " + response.body()).isNotEmpty();
        assertThat(messages.get(messages.size() - 1).path("id")).isEqualTo(message.path("id"));
        return messages;
    }

    /** Sends a request, and returns its answer. */
    JsonNode send(String method, String params) throws IOException, InterruptedException {
        return send(method, json(params));
    }

    JsonNode send(String method, JsonNode params) throws IOException, InterruptedException {
        List<JsonNode> messages = messages(method, params);
        return messages.get(messages.size() - 1);
    }

    JsonNode call(String tool, String arguments) throws IOException, InterruptedException {
        return send("tools/call", "{'name':'" + tool + "','arguments':" + arguments + "}")
                .path("result");
    }

    /** Continues a call with the content of one form. */
    JsonNode fillIn(String tool, String arguments, JsonNode required, String response)
            throws IOException, InterruptedException {
        String key = required.path("inputRequests").fieldNames().next();
        ObjectNode params = (ObjectNode) json("{'name':'" + tool + "','arguments':" + arguments + "}");
        params.set("requestState", required.path("requestState"));
        params.putObject("inputResponses").set(key, json(response));
        return send("tools/call", params).path("result");
    }

    JsonNode task(String id) throws IOException, InterruptedException {
        return send("tasks/get", "{'taskId':'" + id + "'}").path("result");
    }

    JsonNode update(String id, String key, String response) throws IOException, InterruptedException {
        return send("tasks/update", "{'taskId':'" + id + "','inputResponses':{'" + key + "':" + response + "}}");
    }
}
