package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.ToolEntry;
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
 * @param untrusted whether its results and descriptions may have words of strangers
 * @param deferred whether the model finds the tools with {@code find_tools}
 */
public record McpEntry(
        McpServer server,
        boolean trust,
        Optional<List<String>> allow,
        List<ApprovalRule> approveAll,
        Map<String, List<ApprovalRule>> approve,
        Duration timeout,
        boolean askOnUnknown,
        boolean untrusted,
        boolean deferred) {
    /**
     * A tool of this server as the agent has it.
     *
     * @param name the name that models see
     * @param remote the name on the server
     * @param harmless whether the server says that running it twice is harmless
     */
    public ToolSpec tool(String name, String remote, String description, Json input, boolean harmless) {
        ToolSpec.Builder spec = ToolSpec.mcp(name, server, remote)
                .describedAs(description, input)
                .timeout(timeout);
        ToolEntry.approved(spec, approve.getOrDefault(remote, approveAll));
        if (trust && harmless) {
            spec.safeToRetry();
        } else if (askOnUnknown) {
            spec.askOnUnknown();
        }
        if (untrusted) {
            spec.untrusted();
        }
        return spec.build();
    }

    /** Whether the agent has this tool of the server. */
    public boolean allows(String remote) {
        return allow.isEmpty() || allow.get().contains(remote);
    }
}
