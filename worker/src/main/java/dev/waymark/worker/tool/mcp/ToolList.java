package dev.waymark.worker.tool.mcp;

import java.time.Duration;
import java.util.List;

/**
 * The tools of a server.
 *
 * @param fresh how long the server allows the list to be used
 */
record ToolList(List<RemoteTool> tools, Duration fresh) {
    /** Limits what servers declare, so that an updated server does not keep its old tools for long. */
    static final Duration LONGEST_USE = Duration.ofHours(1);

    ToolList {
        tools = List.copyOf(tools);
    }
}
