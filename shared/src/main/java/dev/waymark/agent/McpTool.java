package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/**
 * The MCP server and tool behind an agent's tool.
 *
 * @param tool the tool's name on the server, which models may not accept
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record McpTool(
        @JsonProperty("server") McpServer server,
        @JsonProperty("tool") String tool) {
    @JsonCreator
    public McpTool {
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(tool, "tool");
    }
}
