package dev.waymark.worker.tool.mcp;

import java.time.Duration;
import java.util.List;

/**
 * The tools of a server.
 *
 * @param fresh how long the list may be used, as the server says
 */
record ToolList(List<RemoteTool> tools, Duration fresh) {
    /** A server that is updated should not keep its old tools for longer, whatever it has said. */
    static final Duration LONGEST_USE = Duration.ofHours(1);

    ToolList {
        tools = List.copyOf(tools);
    }
}
