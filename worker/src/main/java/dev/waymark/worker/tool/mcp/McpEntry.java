package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.ApprovalRule;
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
 * @param approveAll the rules that decide which calls need approval; empty if none does
 * @param approve the rules of particular tools, instead of {@code approveAll}
 * @param timeout the time limit of each call
 * @param askOnUnknown whether a person settles calls with an unknown outcome
 */
public record McpEntry(
        McpServer server,
        boolean trust,
        Optional<List<String>> allow,
        List<ApprovalRule> approveAll,
        Map<String, List<ApprovalRule>> approve,
        Duration timeout,
        boolean askOnUnknown) {}
