package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/**
 * Which tool of which server a tool of an agent is.
 *
 * @param tool its name there, which may be one that no model could be told
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
