/**
 * Tools of MCP servers: listing and calling them. Must not know why a tool is called or what happens to a call with an
 * unknown outcome.
 *
 * <p>Begin with {@link McpToolKind}, which runs a call; {@link McpConnection} talks to a server.
 */
@NullMarked
package dev.waymark.worker.tool.mcp;

import org.jspecify.annotations.NullMarked;
