package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.tool.command.CommandToolKind;
import dev.waymark.worker.tool.http.HttpRunner;
import dev.waymark.worker.tool.http.HttpToolKind;
import dev.waymark.worker.tool.java.JavaToolKind;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolPrograms;
import dev.waymark.worker.tool.mcp.McpConnections;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import dev.waymark.worker.tool.mcp.McpToolKind;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The tool kinds that a worker runs. A new kind is added to the list in the constructor. Thread-safe. */
public final class ToolKinds implements AutoCloseable {
    /** Memory that a running tool may need for its arguments and its result, each of which exists in several forms. */
    private static final int BYTES_EACH = 1024 * 1024;

    /**
     * The maximum number of concurrent calls of one kind: as many as fit into a quarter of the heap, but at least 8.
     */
    private static final int MOST_SLOTS =
            (int) Math.max(8, Math.min(1_000, Runtime.getRuntime().maxMemory() / 4 / BYTES_EACH));

    private final Map<ToolSpec.Kind, ToolKind> kinds = new LinkedHashMap<>();
    private final Map<ToolSpec.Kind, ToolSlots> slots = new LinkedHashMap<>();
    private final McpConnections servers;
    private final Map<String, String> environment;

    /**
     * Starts processes and connections only when they are needed.
     *
     * @param environment the worker's environment, in which <code>${NAME}</code> is resolved
     * @param directory the directory of the agent files, where programs run
     */
    public ToolKinds(Map<String, String> environment, Path directory, JavaTools tools) {
        this.environment = environment;
        ToolPrograms programs = new ToolPrograms(new CommandRunner(environment), directory);
        servers = new McpConnections(environment, directory);
        List.of(
                        new HttpToolKind(new HttpRunner(environment), programs),
                        new CommandToolKind(programs),
                        new McpToolKind(servers),
                        new JavaToolKind(tools))
                .forEach(kind -> {
                    kinds.put(kind.kind(), kind);
                    slots.put(kind.kind(), new ToolSlots(Math.min(kind.slots(), MOST_SLOTS)));
                });
    }

    /** The variables in which <code>${NAME}</code> is resolved. */
    Map<String, String> environment() {
        return environment;
    }

    /** All kinds, in the order in which they are tried for an entry of an agent file. */
    public List<ToolKind> all() {
        return List.copyOf(kinds.values());
    }

    ToolSlots slots(ToolSpec tool) {
        return Optional.ofNullable(slots.get(tool.kind())).orElseThrow(() -> notOurs(tool));
    }

    ToolSlots programSlots() {
        return Objects.requireNonNull(slots.get(ToolSpec.Kind.COMMAND));
    }

    /** Throws IllegalStateException for tools without an activity, which the conversation runs itself. */
    ToolKind of(ToolSpec tool) {
        return Optional.ofNullable(kinds.get(tool.kind())).orElseThrow(() -> notOurs(tool));
    }

    private static IllegalStateException notOurs(ToolSpec tool) {
        return new IllegalStateException("the conversation runs this tool itself: " + tool.name());
    }

    /** Lists the tools of MCP servers, over the connections that calls use. */
    public McpDiscovery discovery() {
        return new McpDiscovery(servers);
    }

    @Override
    public void close() {
        kinds.values().forEach(ToolKind::close);
    }
}
