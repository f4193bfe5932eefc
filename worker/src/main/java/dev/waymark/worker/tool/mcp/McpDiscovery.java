package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.tool.RuleCheck;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.process.ProcessFence;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists the current tools of MCP servers. A thread keeps the tools found at its start. */
public final class McpDiscovery {
    private static final Logger LOG = LoggerFactory.getLogger(McpDiscovery.class);

    /** Time that a server has to start, including a download, and to list its tools. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Time limit for all servers of an agent together. */
    private static final Duration WHOLE_PATIENCE = Duration.ofMinutes(2);

    /**
     * Failures within this time are retried. After a slower failure, a retry would make the user wait as long again.
     */
    private static final Duration SOON = Duration.ofSeconds(10);

    private static final int LARGEST_SCHEMA = 64 * 1024;
    private static final int LONGEST_DESCRIPTION = 8 * 1024;

    /** Limited, because each thread's history records the agent in one payload. */
    private static final int LARGEST_AGENT = 512 * 1024;

    /** The maximum number of tools of a server that are not deferred: each of them is in every request to the model. */
    private static final int MOST_SENT = 200;

    private final McpConnections servers;
    private final Duration serverLimit;

    /** The warnings about rules that were already logged, so that further threads do not repeat them. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    public McpDiscovery(McpConnections servers) {
        this(servers, PATIENCE);
    }

    /** @param serverLimit the time limit for each server */
    McpDiscovery(McpConnections servers, Duration serverLimit) {
        this.servers = servers;
        this.serverLimit = serverLimit;
    }

    /**
     * Returns the agent with the tools of its MCP servers.
     *
     * @param agent the agent, with the tools that need no server
     * @throws ApplicationFailure of type {@code McpUnavailable}, with the reason, after two minutes at most
     */
    public AgentSpec complete(AgentSpec agent, List<McpEntry> entries) throws InterruptedException {
        List<ToolSpec> sent = new ArrayList<>();
        List<ToolSpec> deferred = new ArrayList<>();
        Set<String> used = new HashSet<>();
        agent.allTools().forEach(tool -> used.add(tool.name()));
        ToolNaming naming = new ToolNaming(used);
        ProcessFence whole = ProcessFence.in(WHOLE_PATIENCE);
        for (McpEntry entry : entries) {
            String server = entry.server().name();
            ProcessFence fence = ProcessFence.in(serverLimit.compareTo(whole.left()) < 0 ? serverLimit : whole.left());
            try {
                (entry.deferred() ? deferred : sent).addAll(tools(entry, naming, fence));
            } catch (RequestNotSentException | OutcomeUnknownException e) {
                Problem problem = problem(server, "can't be reached", e);
                boolean soon = fence.left().compareTo(fence.timeout().minus(SOON)) > 0
                        && !fence.left().isZero();
                throw soon ? ActivityProblems.passing(problem, Optional.empty()) : ActivityProblems.permanent(problem);
            } catch (UnusableServerException e) {
                throw ActivityProblems.permanent(problem(server, "can't be used", e));
            }
        }
        AgentSpec complete = complete(agent, sent, deferred);
        int bytes = bytes(complete)
                - complete.deferred().map(DeferredTools::encodedBytes).orElse(0);
        if (bytes > LARGEST_AGENT) {
            throw ActivityProblems.permanent(new Problem(
                    ProblemType.MCP_UNAVAILABLE,
                    "agent " + agent.name() + " is too large with all its tools: " + bytes + " bytes, at most "
                            + LARGEST_AGENT + ". Limit the tools of its MCP servers with the field allow, or set"
                            + " deferred: true"));
        }
        return complete;
    }

    private static AgentSpec complete(AgentSpec agent, List<ToolSpec> sent, List<ToolSpec> deferred) {
        try {
            return agent.withMore(sent, deferred);
        } catch (IllegalArgumentException e) {
            throw ActivityProblems.permanent(
                    new Problem(ProblemType.MCP_UNAVAILABLE, "agent " + agent.name() + ": " + e.getMessage()));
        }
    }

    private static Problem problem(String server, String what, Exception why) {
        return new Problem(ProblemType.MCP_UNAVAILABLE, "MCP server " + server + " " + what + ": " + why.getMessage());
    }

    private List<ToolSpec> tools(McpEntry entry, ToolNaming naming, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        List<RemoteTool> offered = new ArrayList<>();
        for (RemoteTool tool : servers.tools(entry.server(), fence)) {
            Optional<String> problem = entry.server().url().flatMap(url -> ParameterHeaders.problem(tool.input()));
            if (problem.isPresent()) {
                LOG.warn(
                        "tool {} of MCP server {} is left out: {}",
                        tool.name(),
                        entry.server().name(),
                        problem.get());
            } else {
                offered.add(tool);
            }
        }
        known(entry.allow().orElse(List.of()), "allow", offered);
        known(entry.approve().keySet(), "approval", offered);
        List<ToolSpec> tools = new ArrayList<>();
        for (RemoteTool tool : offered) {
            if (entry.allows(tool.name())) {
                tools.add(spec(entry, tool, naming.name(entry.server().name(), tool.name())));
            }
        }
        if (tools.size() > MOST_SENT && !entry.deferred()) {
            throw new UnusableServerException(
                    "it has more than " + MOST_SENT + " tools. Limit them with the field allow, or set deferred: true");
        }
        return tools;
    }

    /** Rejects unknown names: a misspelled one would leave a tool without approval. */
    private static void known(Iterable<String> names, String field, List<RemoteTool> offered)
            throws UnusableServerException {
        Set<String> missing = new LinkedHashSet<>();
        names.forEach(missing::add);
        offered.forEach(tool -> missing.remove(tool.name()));
        if (!missing.isEmpty()) {
            throw new UnusableServerException(field + " names unknown tools: " + String.join(", ", missing)
                    + ". It has " + offered.stream().map(RemoteTool::name).collect(Collectors.joining(", ")));
        }
    }

    private ToolSpec spec(McpEntry entry, RemoteTool tool, String name) throws UnusableServerException {
        ToolSpec spec = entry.tool(name, tool.name(), description(tool), schema(tool), tool.harmless());
        for (String problem : RuleCheck.problems(spec)) {
            String words = "a rule for tool " + tool.name() + " of MCP server "
                    + entry.server().name() + " always asks: " + problem;
            if (told.add(words)) {
                LOG.warn("{}", words);
            }
        }
        return spec;
    }

    private static String description(RemoteTool tool) {
        String words = tool.description();
        return words.length() > LONGEST_DESCRIPTION ? words.substring(0, LONGEST_DESCRIPTION) + "…" : words;
    }

    private static Json schema(RemoteTool tool) throws UnusableServerException {
        if (!tool.input().isObject()) {
            throw new UnusableServerException("the input schema of " + tool.name() + " is not a JSON Schema");
        }
        int bytes = JsonRpc.bytes(tool.input()).length;
        if (bytes > LARGEST_SCHEMA) {
            throw new UnusableServerException("the input schema of " + tool.name() + " has " + bytes
                    + " bytes, at most " + LARGEST_SCHEMA + ". Exclude the tool with the field allow");
        }
        try {
            Json schema = PayloadJson.MAPPER.treeToValue(tool.input(), Json.class);
            Optional<String> problem = ToolArguments.schemaProblem(schema);
            if (problem.isPresent()) {
                throw new UnusableServerException("the input schema of " + tool.name() + ": " + problem.get());
            }
            return schema;
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new UnusableServerException("the input schema of " + tool.name() + " is not a JSON Schema");
        }
    }

    private static int bytes(AgentSpec agent) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(agent).length;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the agent as JSON", e);
        }
    }
}
