package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An MCP server whose tools fail like tools of real servers, according to their names. It is a separate process that
 * uses stdin and stdout; {@link HttpToolServer} offers it over HTTP. It writes to files in a directory, which outlive
 * it: {@code seen} lists the methods that were requested, and {@code effects} the calls that took effect, with their
 * keys. Tools listed in {@code removed} no longer exist.
 */
public final class ToolServer {
    static final ObjectMapper MAPPER = new ObjectMapper();

    /** A name that is longer than models accept. Some servers use such names. */
    public static final String LONG_NAME = "very." + "long".repeat(30) + "xyz";

    private static final int PAGE = 4;
    private static final List<String> NAMES = List.of(
            "echo", "sum", "picture", "fail", "charge", "die", "hang", "huge", "chatty", "env", "echo", "a.b",
            LONG_NAME);

    private final Path directory;
    private volatile McpEra era;

    ToolServer(Path directory, McpEra era) {
        this.directory = directory;
        this.era = era;
    }

    /** @param words the directory in which the server writes its notes, and its era */
    public static void main(String[] words) throws Exception {
        ToolServer server = new ToolServer(Path.of(words[0]), McpEra.valueOf(words[1]));
        server.note("pid", Long.toString(ProcessHandle.current().pid()));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode message = MAPPER.readTree(line);
                if (message.path("params").path("name").asText().equals("chatty")) {
                    out.println("Loading…\n{\"half\":");
                    out.println("{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"roots/list\"}");
                    out.println("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}");
                }
                server.answer(message).ifPresent(answer -> out.println(answer.toString()));
                out.flush();
            }
        }
    }

    /** A server that writes its files to this directory, and begins with a handshake. */
    public static McpServer program(Path directory, Map<String, String> env) {
        return program(directory, McpEra.HANDSHAKE, env);
    }

    static McpServer program(Path directory, McpEra era, Map<String, String> env) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return McpServer.program(
                "test",
                List.of(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ToolServer.class.getName(),
                        directory.toString(),
                        era.name()),
                new LinkedHashMap<>(env));
    }

    void become(McpEra next) {
        era = next;
    }

    Path directory() {
        return directory;
    }

    /** The effects so far, as {@code TOOL KEY} or {@code TOOL KEY FENCING_TOKEN}. */
    public static List<String> effects(Path directory) {
        return lines(directory, "effects");
    }

    public static List<String> seen(Path directory) {
        return lines(directory, "seen");
    }

    public static void remove(Path directory, String tool) {
        write(directory, "removed", tool);
    }

    static List<String> lines(Path directory, String file) {
        try {
            Path path = directory.resolve(file);
            return Files.exists(path) ? Files.readAllLines(path) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Path directory, String file, String line) {
        try {
            Files.writeString(
                    directory.resolve(file), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void note(String file, String line) {
        write(directory, file, line);
    }

    /** Empty for messages that have no answer, and for calls that are never answered. */
    Optional<ObjectNode> answer(JsonNode message) {
        String method = message.path("method").asText();
        note("seen", method);
        if (!message.has("id") || method.isEmpty()) {
            return Optional.empty();
        }
        return era == McpEra.STATELESS ? stateless(message, method) : inSession(message, method);
    }

    private Optional<ObjectNode> stateless(JsonNode message, String method) {
        String prefix = "io.modelcontextprotocol/";
        JsonNode meta = message.path("params").path("_meta");
        String version = meta.path(prefix + "protocolVersion").asText();
        if (version.isEmpty() || !meta.path(prefix + "clientCapabilities").isObject()) {
            return Optional.of(error(message, -32602, "no version or capabilities; versions: 2026-07-28"));
        }
        if (!version.equals("2026-07-28")) {
            ObjectNode refusal = error(message, -32022, "Unsupported protocol version");
            refusal.withObject("/error/data").putArray("supported").add("2026-07-28");
            return Optional.of(refusal);
        }
        Optional<ObjectNode> answer = switch (method) {
            case "server/discover" -> Optional.of(result(message, discovered()));
            case "tools/list" -> Optional.of(result(message, list(message.path("params"))));
            case "tools/call" -> call(message);
            default -> Optional.of(error(message, -32601, "Method not found"));
        };
        answer.ifPresent(said -> {
            if (said.path("result") instanceof ObjectNode result && !result.has("resultType")) {
                result.put("resultType", "complete");
            }
        });
        return answer;
    }

    private static ObjectNode discovered() {
        ObjectNode server = MAPPER.createObjectNode();
        server.putArray("supportedVersions").add("2026-07-28");
        server.putObject("capabilities").putObject("tools");
        return server.put("ttlMs", 0).put("cacheScope", "public");
    }

    private Optional<ObjectNode> inSession(JsonNode message, String method) {
        return switch (method) {
            case "initialize" -> Optional.of(result(message, hello(message)));
            case "tools/list" -> Optional.of(result(message, list(message.path("params"))));
            case "tools/call" -> call(message);
            case "ping" -> Optional.of(result(message, MAPPER.createObjectNode()));
            default -> Optional.of(error(message, -32601, "Method not found"));
        };
    }

    private static ObjectNode hello(JsonNode message) {
        ObjectNode hello = MAPPER.createObjectNode();
        hello.set("protocolVersion", message.path("params").path("protocolVersion"));
        hello.set("capabilities", MAPPER.createObjectNode().set("tools", MAPPER.createObjectNode()));
        hello.set("serverInfo", MAPPER.createObjectNode().put("name", "test").put("version", "1"));
        return hello;
    }

    private ObjectNode list(JsonNode params) {
        List<String> there = new ArrayList<>(NAMES);
        there.removeAll(lines(directory, "removed"));
        int from = params.path("cursor").asInt();
        ArrayNode tools = MAPPER.createArrayNode();
        for (String name : there.subList(from, Math.min(from + PAGE, there.size()))) {
            ObjectNode tool = MAPPER.createObjectNode().put("name", name).put("description", "Does " + name);
            tool.set("inputSchema", schema(name));
            tool.set(
                    "annotations",
                    MAPPER.createObjectNode()
                            .put("readOnlyHint", !List.of("charge", "die").contains(name)));
            tools.add(tool);
        }
        ObjectNode page = MAPPER.createObjectNode();
        page.set("tools", tools);
        lines(directory, "fresh").forEach(millis -> page.put("ttlMs", Long.parseLong(millis)));
        if (from + PAGE < there.size()) {
            page.put("nextCursor", Integer.toString(from + PAGE));
        }
        return page;
    }

    /** The file {@code marked} names tools whose parameter {@code text} is to be a header of this name. */
    private ObjectNode schema(String tool) {
        ObjectNode schema = MAPPER.createObjectNode().put("type", "object");
        lines(directory, "marked").stream()
                .filter(line -> line.startsWith(tool + " "))
                .forEach(line -> schema.putObject("properties")
                        .putObject("text")
                        .put("type", "string")
                        .put("x-mcp-header", line.substring(tool.length() + 1)));
        return schema;
    }

    static void mark(Path directory, String tool, String header) {
        write(directory, "marked", tool + " " + header);
    }

    /** Lets servers say that their lists of tools stay fresh for this long. */
    static void stayFresh(Path directory, long millis) {
        write(directory, "fresh", Long.toString(millis));
    }

    private Optional<ObjectNode> call(JsonNode message) {
        JsonNode params = message.path("params");
        String name = params.path("name").asText();
        JsonNode args = params.path("arguments");
        if (!NAMES.contains(name) || lines(directory, "removed").contains(name)) {
            return Optional.of(error(message, -32602, "Unknown tool: " + name));
        }
        return switch (name) {
            case "sum" -> {
                ObjectNode result = content();
                result.set(
                        "structuredContent",
                        MAPPER.createObjectNode()
                                .put(
                                        "sum",
                                        args.path("a").asInt() + args.path("b").asInt()));
                yield Optional.of(result(message, result));
            }
            case "picture" -> {
                ObjectNode result = text("Here it is.");
                result.withArray("content")
                        .addObject()
                        .put("type", "image")
                        .put("mimeType", "image/png")
                        .put("data", "AAECAwQ=");
                yield Optional.of(result(message, result));
            }
            case "fail" -> Optional.of(result(message, text("No such city").put("isError", true)));
            case "charge" -> {
                effect(name, params);
                yield Optional.of(
                        result(message, text("charged " + args.path("cents").asInt())));
            }
            case "die" -> {
                effect(name, params);
                System.err.println("out of memory, with " + System.getenv("TOKEN"));
                System.err.flush();
                Runtime.getRuntime().halt(3);
                yield Optional.empty();
            }
            case "hang" -> {
                effect(name, params);
                yield Optional.empty();
            }
            case "huge" -> {
                ObjectNode result = text("x".repeat(args.path("bytes").asInt()));
                ArrayNode values = result.putObject("structuredContent").putArray("values");
                IntStream.range(0, args.path("values").asInt()).forEach(i -> values.add(i));
                yield Optional.of(result(message, result));
            }
            case "env" ->
                Optional.of(result(
                        message,
                        text(String.join(
                                        " ",
                                        System.getenv().keySet().stream()
                                                .sorted()
                                                .toList()) + " " + System.getenv("TOKEN"))));
            default ->
                Optional.of(result(message, text(name + ": " + args.path("text").asText())));
        };
    }

    void effect(String name, JsonNode params) {
        note(
                "effects",
                name + " "
                        + params.path("_meta")
                                .path("dev.waymark/idempotency-key")
                                .asText("-")
                        + (params.path("_meta").has("dev.waymark/fencing-token")
                                ? " "
                                        + params.path("_meta")
                                                .path("dev.waymark/fencing-token")
                                                .asLong()
                                : ""));
    }

    static ObjectNode text(String words) {
        ObjectNode result = content();
        result.withArray("content").addObject().put("type", "text").put("text", words);
        return result;
    }

    private static ObjectNode content() {
        ObjectNode result = MAPPER.createObjectNode();
        result.putArray("content");
        return result;
    }

    static ObjectNode result(JsonNode request, ObjectNode result) {
        ObjectNode answer = MAPPER.createObjectNode().put("jsonrpc", "2.0");
        answer.set("id", request.get("id"));
        answer.set("result", result);
        return answer;
    }

    static ObjectNode error(JsonNode request, int code, String words) {
        ObjectNode answer = MAPPER.createObjectNode().put("jsonrpc", "2.0");
        answer.set("id", request.get("id"));
        answer.putObject("error").put("code", code).put("message", words);
        return answer;
    }

    static JsonNode read(byte[] json) {
        try {
            return MAPPER.readTree(new String(json, StandardCharsets.UTF_8));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
