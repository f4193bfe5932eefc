package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A server in an agent file, and the settings of its tools. Tools are named as on the server.
 *
 * @param trust whether the server's hints decide which tools are safe to retry
 * @param allow the tools that the agent has; empty for all
 * @param approveAll whether every call needs approval
 * @param approve whether calls of a particular tool need approval; overrides {@code approveAll}
 * @param timeout the time limit of each call
 * @param askOnUnknown whether a person settles calls with an unknown outcome
 */
public record McpEntry(
        McpServer server,
        boolean trust,
        Optional<List<String>> allow,
        boolean approveAll,
        Map<String, Boolean> approve,
        Duration timeout,
        boolean askOnUnknown) {}
