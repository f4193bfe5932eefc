package dev.waymark.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The MCP server and tool behind an agent's tool.
 *
 * @param tool the tool's name on the server, which models may not accept
 */
public record McpTool(McpServer server, String tool) implements ToolImplementation {
    public McpTool {
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(tool, "tool");
    }

    @Override
    public ToolSpec.Kind kind() {
        return ToolSpec.Kind.MCP;
    }

    @Override
    public <R> R accept(Cases<R> cases) {
        return cases.mcp(this);
    }

    @Override
    public List<String> references() {
        List<String> references = new ArrayList<>(server.references());
        server.url().ifPresent(references::add);
        return references;
    }
}
