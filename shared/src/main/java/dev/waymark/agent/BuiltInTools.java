package dev.waymark.agent;

import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tools that every agent can use. They ask a person, or work on the thread's own state. */
public final class BuiltInTools {
    /** The names that agent files use with {@code use:}. */
    public static final List<String> GROUPS = List.of("ask_user", "todos", "plan", "files");

    /** The maximum number of MCP servers that a description names. */
    private static final int MOST_SERVERS = 100;

    private BuiltInTools() {}

    /** The tools of one of {@link #GROUPS}. */
    public static List<ToolSpec> of(String group) {
        return switch (group) {
            case "ask_user" -> List.of(askUser());
            case "todos" -> todos();
            case "plan" -> plan();
            case "files" -> files();
            default -> throw new IllegalArgumentException("unknown group of built-in tools: " + group);
        };
    }

    /** Lets the model ask a person. */
    public static ToolSpec askUser() {
        return ToolSpec.builtIn(
                "ask_user",
                ToolImplementation.Plain.QUESTION,
                "Ask the human a question and wait for the answer.",
                object(field("question", string())));
    }

    /** Lets the model read the parts of a long result that it was not shown. */
    public static ToolSpec readResult() {
        Map<String, Object> position = new LinkedHashMap<>();
        position.put("type", "integer");
        position.put("minimum", 0);
        return ToolSpec.builtIn(
                LongResult.READ_TOOL,
                ToolImplementation.Plain.STATE,
                "Read a part of a long result that you were shown only the beginning and the end of. \"from\" is the"
                        + " number of the first character to read. \"search\" finds up to " + LongResult.MOST_HITS
                        + " places of exactly these words instead, with the number of the character where each begins.",
                object(List.of("call"), field("call", string()), field("from", position), field("search", string())));
    }

    /** Lets the model read the files of its skills. */
    static ToolSpec readSkill(Skills skills) {
        return ToolSpec.builtIn(
                Skills.READ_TOOL,
                skills,
                "Read a file of one of your skills. Without \"path\", it is the skill's SKILL.md, which says how to do"
                        + " the task and names its other files. \"path\" is relative to the folder of the skill.",
                object(List.of("name"), field("name", string()), field("path", string())));
    }

    /**
     * Lets the model find deferred tools. Its description names the MCP servers that they come from, because the model
     * knows nothing else of them.
     */
    static ToolSpec findTools(DeferredTools deferred) {
        Map<String, Integer> servers = new LinkedHashMap<>();
        deferred.tools().forEach(tool -> {
            if (tool.implementation() instanceof McpTool mcp) {
                servers.merge(mcp.server().name(), 1, Integer::sum);
            }
        });
        String named = servers.entrySet().stream()
                .limit(MOST_SERVERS)
                .map(server -> server.getKey() + " (" + server.getValue() + ")")
                .collect(Collectors.joining(", "));
        String from = named.isEmpty()
                ? ""
                : ", from these services: " + named + (servers.size() > MOST_SERVERS ? " and others" : "");
        return ToolSpec.builtIn(
                DeferredTools.FIND_TOOL,
                deferred,
                "You have " + deferred.count() + " more tools" + from + ". Their definitions are not listed here. Find"
                        + " one by words for what it does: the service, an action and an object, such as \"github create"
                        + " issue\". The result has the definitions of the tools that match best. Call them with "
                        + DeferredTools.USE_TOOL + ".",
                object(field("query", string())));
    }

    /** Lets the model call deferred tools. */
    static ToolSpec useTool() {
        return ToolSpec.builtIn(
                DeferredTools.USE_TOOL,
                DeferredTools.NONE,
                "Call a tool that " + DeferredTools.FIND_TOOL + " has found. \"arguments\" are the tool's own, as its"
                        + " definition says.",
                object(field("name", string()), field("arguments", Map.of("type", "object")))
                        .overlaidBy(Optional.of(Json.of(Map.of("additionalProperties", false)))));
    }

    /** Whether one of the tools has the name of this built-in one, and is not it. */
    static boolean hasAnother(ToolSpec builtIn, List<ToolSpec> tools) {
        return tools.stream().anyMatch(tool -> tool.name().equals(builtIn.name()) && tool.kind() != builtIn.kind());
    }

    /**
     * The tools with this built-in one, in its place if it is among them with other data. Otherwise it stays as it is,
     * with the mark of its judge.
     */
    static List<ToolSpec> with(ToolSpec builtIn, List<ToolSpec> tools) {
        boolean isThere = tools.stream().anyMatch(tool -> tool.name().equals(builtIn.name()));
        return isThere
                ? tools.stream()
                        .map(tool -> tool.name().equals(builtIn.name())
                                        && !tool.implementation().equals(builtIn.implementation())
                                ? builtIn
                                : tool)
                        .toList()
                : Stream.concat(tools.stream(), Stream.of(builtIn)).toList();
    }

    private static List<ToolSpec> todos() {
        return List.of(ToolSpec.builtIn(
                "write_todos",
                ToolImplementation.Plain.STATE,
                "Write the whole to-do list. It replaces the previous one.",
                object(field(
                        "todos",
                        list(object(
                                field("id", string()),
                                field("content", string()),
                                field("status", oneOf(Workspace.Todo.STATUSES))))))));
    }

    private static List<ToolSpec> plan() {
        return List.of(ToolSpec.builtIn(
                "write_plan",
                ToolImplementation.Plain.STATE,
                "Write the whole plan. It replaces the previous one.",
                object(
                        field("goal", string()),
                        field(
                                "steps",
                                list(object(
                                        field("id", string()),
                                        field("description", string()),
                                        field("status", oneOf(Workspace.PlanStep.STATUSES))))))));
    }

    private static List<ToolSpec> files() {
        Map<String, Object> anyPath = new LinkedHashMap<>();
        anyPath.put("type", "object");
        anyPath.put("properties", Map.of("path", string()));
        return List.of(
                ToolSpec.builtIn(
                        "ls",
                        ToolImplementation.Plain.STATE,
                        "List your files, all or those in a folder.",
                        Json.of(anyPath)),
                ToolSpec.builtIn(
                        "read_file",
                        ToolImplementation.Plain.STATE,
                        "Read one of your files.",
                        object(field("path", string()))),
                ToolSpec.builtIn(
                        "write_file",
                        ToolImplementation.Plain.STATE,
                        "Write a file. It replaces an existing one.",
                        object(field("path", string()), field("content", string()))),
                ToolSpec.builtIn(
                        "edit_file",
                        ToolImplementation.Plain.STATE,
                        "Replace a text that occurs once in a file.",
                        object(field("path", string()), field("old", string()), field("new", string()))));
    }

    private record Field(String name, Object schema) {}

    private static Field field(String name, Object schema) {
        return new Field(name, schema);
    }

    /** An object schema in which all fields are required. */
    private static Json object(Field... fields) {
        return object(Stream.of(fields).map(Field::name).toList(), fields);
    }

    private static Json object(List<String> required, Field... fields) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (Field field : fields) {
            properties.put(field.name(), field.schema());
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", required);
        return Json.of(schema);
    }

    private static Object string() {
        return Map.of("type", "string");
    }

    private static Object oneOf(List<String> values) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "string");
        schema.put("enum", values);
        return schema;
    }

    private static Object list(Json items) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "array");
        schema.put("items", items.value());
        return schema;
    }
}
