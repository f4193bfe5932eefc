package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpTool;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import java.util.Optional;

/**
 * Tools of an MCP server. An agent file names the server, {@code mcp: { name: … }}, and {@link McpDiscovery} lists the
 * server's tools when a thread starts.
 */
public final class McpToolKind implements ToolKind<McpTool> {

    /** Replaces the definition of a tool that its server does not list. Stored in histories. */
    private static final String NOT_OFFERED = "not offered";

    private final McpConnections servers;

    public McpToolKind(McpConnections servers) {
        this.servers = servers;
    }

    @Override
    public Optional<ToolOutcome> problem(McpTool mcp, ToolSpec tool, Json args) {
        return Optional.empty();
    }

    @Override
    public boolean isReady(McpTool mcp, ToolSpec tool) {
        return servers.isConnected(mcp.server());
    }

    @Override
    public ToolOutcome run(McpTool mcp, ToolRun run) throws InterruptedException {
        try {
            return servers.call(mcp, run.tool().input(), run.args(), run.effectKeys(), run.server(), run.fence())
                    .outcome();
        } catch (RequestNotSentException e) {
            String why = "MCP server " + mcp.server().name() + " can't be reached: " + e.getMessage();
            retryIfSafe(run, why);
            return Effect.NOT_DONE.outcome(why);
        } catch (OutcomeUnknownException e) {
            if (!e.isLate()) {
                retryIfSafe(run, String.valueOf(e.getMessage()));
            }
            return Effect.UNKNOWN.outcome(String.valueOf(e.getMessage()));
        }
    }

    /** The name, the description and the schema of the arguments, as the server lists them now. */
    @Override
    public Optional<String> definition(McpTool mcp, ToolSpec tool, ProcessFence fence)
            throws UnknownDefinitionException, InterruptedException {
        try {
            for (RemoteTool offered : servers.toolsNow(mcp.server(), fence)) {
                if (offered.name().equals(mcp.tool())) {
                    return Optional.of(offered.digest());
                }
            }
            return Optional.of(NOT_OFFERED);
        } catch (RequestNotSentException | OutcomeUnknownException | UnusableServerException e) {
            throw new UnknownDefinitionException(
                    "MCP server " + mcp.server().name() + " can't list its tools: " + e.getMessage(), e);
        }
    }

    /** For a tool that is safe to retry, a lost connection is not a result: Temporal retries the activity. */
    private static void retryIfSafe(ToolRun run, String why) {
        if (!run.tool().hasEffect()) {
            throw ActivityProblems.passing(new Problem(ProblemType.MCP_CONNECTION_LOST, why), Optional.empty());
        }
    }

    @Override
    public ToolOutcome follow(McpTool mcp, ToolSpec tool, Suspension task, ProcessFence fence)
            throws InterruptedException {
        String id = task.task().orElseThrow();
        return new RemoteTask(servers, mcp.server(), id, fence).follow(task).outcome();
    }

    @Override
    public void cancel(McpTool mcp, String task, ProcessFence fence) throws InterruptedException {
        new RemoteTask(servers, mcp.server(), task, fence).cancel();
    }

    @Override
    public VerifyOutcome verify(ToolRun run) {
        return VerifyOutcome.unknown("MCP tools can't be verified");
    }

    @Override
    public void close() {
        servers.close();
    }
}
