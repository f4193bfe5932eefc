package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an agent file says of a server and its tools. Tools go by the names that the server has for them.
 *
 * @param trust what the server says of its tools decides whether they are safe to retry
 * @param allow the tools that the agent has; all of them where it is not said
 * @param approveAll whether every call waits for a person
 * @param approve the same, for single tools: it counts more than {@code approveAll}
 * @param timeout of each call
 * @param askOnUnknown a person settles a call of which nobody knows whether it took effect
 */
public record McpEntry(
        McpServer server,
        boolean trust,
        Optional<List<String>> allow,
        boolean approveAll,
        Map<String, Boolean> approve,
        Duration timeout,
        boolean askOnUnknown) {}
