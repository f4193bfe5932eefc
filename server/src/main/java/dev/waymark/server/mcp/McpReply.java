package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;

sealed interface McpReply {
    /** An answer that is complete. */
    record Finished(ObjectNode message) implements McpReply {}

    /** Messages over time. The last one is the answer. */
    record Coming(MessageSource messages) implements McpReply {}
}
