package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.tool.ToolArguments;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The tools that clients are offered: the agents, and a few for clients that work with threads. */
final class ToolDefinitions {
    static final String START = "start";
    static final String SAY = "say";
    static final String ANSWER = "answer";
    static final String RESULT = "result";
    static final String STOP = "stop";

    /** The names that clients and models accept. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private static final Map<String, ObjectNode> FIELDS = Map.of(
            "agent", text("The name of the agent."),
            "message", text("What the agent is to do, with everything that it needs to know."),
            "thread", text("The id of the thread."),
            "answer", text("The answer."),
            "callId", text("The call that asked, if several questions are open."),
            "schema",
                    PayloadJson.MAPPER
                            .createObjectNode()
                            .put("type", "object")
                            .put("description", "A JSON Schema that the agent's final reply has to match."));

    private final AgentCatalog agents;
    private final List<ObjectNode> threadTools = List.of(
            definition(
                    START,
                    "Starts a conversation with an agent, and returns its thread at once.",
                    List.of("agent", "message"),
                    List.of("schema")),
            definition(SAY, "Sends another message to a thread.", List.of("thread", "message"), List.of()),
            definition(
                    ANSWER,
                    "Answers a question that an agent has asked.",
                    List.of("thread", "answer"),
                    List.of("callId")),
            definition(
                    RESULT,
                    "Waits for the latest turn of a thread, and returns its result or what it waits for.",
                    List.of("thread"),
                    List.of()),
            definition(STOP, "Stops the running turn of a thread.", List.of("thread"), List.of()));

    ToolDefinitions(AgentCatalog agents) {
        this.agents = agents;
    }

    private static ObjectNode text(String description) {
        return PayloadJson.MAPPER
                .createObjectNode()
                .put("type", "string")
                .put("minLength", 1)
                .put("description", description);
    }

    private static ObjectNode definition(
            String name, String description, List<String> required, List<String> optional) {
        ObjectNode tool =
                PayloadJson.MAPPER.createObjectNode().put("name", name).put("description", description);
        ObjectNode schema = tool.putObject("inputSchema").put("type", "object");
        ObjectNode properties = schema.putObject("properties");
        required.forEach(field -> properties.set(field, FIELDS.get(field)));
        optional.forEach(field -> properties.set(field, FIELDS.get(field)));
        required.forEach(schema.putArray("required")::add);
        schema.put("additionalProperties", false);
        return tool;
    }

    private static ObjectNode definition(AgentCatalog.Listed agent) {
        return definition(
                agent.name(),
                agent.description().orElse("Asks the agent " + agent.name() + "."),
                List.of("message"),
                List.of("schema"));
    }

    ArrayNode all() {
        ArrayNode tools = PayloadJson.MAPPER.createArrayNode();
        agents.agents().stream()
                .filter(agent -> isToolName(agent.name()))
                .map(ToolDefinitions::definition)
                .forEach(tools::add);
        threadTools.forEach(tools::add);
        return tools;
    }

    /** An agent with any other name can be started with the tool {@code start}. */
    private boolean isToolName(String name) {
        return NAME.matcher(name).matches() && threadTool(name).isEmpty();
    }

    private Optional<ObjectNode> threadTool(String name) {
        return threadTools.stream()
                .filter(tool -> tool.path("name").asText().equals(name))
                .findFirst();
    }

    /** The definition of a tool. Until a worker has reported its agents, any name may be an agent. */
    Optional<ObjectNode> find(String name) {
        Optional<ObjectNode> threadTool = threadTool(name);
        if (threadTool.isPresent() || !isToolName(name)) {
            return threadTool;
        }
        List<AgentCatalog.Listed> known = agents.agents();
        AgentCatalog.Listed unreported = new AgentCatalog.Listed(name, Optional.empty(), Optional.empty(), false);
        return known.stream()
                .filter(agent -> agent.name().equals(name))
                .findFirst()
                .or(() -> known.isEmpty() && !agents.isRestricted() ? Optional.of(unreported) : Optional.empty())
                .map(ToolDefinitions::definition);
    }

    /** Why the arguments are invalid for a tool; empty if they are valid. */
    static Optional<String> problem(ObjectNode tool, JsonNode arguments) {
        Json schema = McpRequest.json(tool.path("inputSchema"));
        return ToolArguments.problem(schema, McpRequest.json(arguments));
    }
}
