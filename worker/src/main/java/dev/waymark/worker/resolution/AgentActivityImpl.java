package dev.waymark.worker.resolution;

import dev.waymark.agent.AgentList;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.Suggestion;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.skill.SkillFolders;
import io.temporal.activity.Activity;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resolves an agent's definition when a thread starts, from the current files. The thread keeps the returned definition
 * for its whole life.
 */
public final class AgentActivityImpl implements AgentActivity, AgentListActivity {
    private static final Logger LOG = LoggerFactory.getLogger(AgentActivityImpl.class);

    private AgentDirectory newest;
    private final McpDiscovery discovery;
    private final CallJudges judges;
    private final Supplier<Optional<Problem>> obstacle;
    private final Function<AgentSpec, Optional<String>> lacks;

    /** Creates an activity for workers without subagents, whose threads may always start. */
    public AgentActivityImpl(AgentDirectory agents, McpDiscovery discovery) {
        this(agents, discovery, CallJudges.NONE, Optional::empty, agent -> Optional.empty());
    }

    /**
     * @param obstacle returns why the thread of the current activity must not start; empty if it may
     * @param lacks returns what this worker lacks to call a model of the agent
     */
    public AgentActivityImpl(
            AgentDirectory agents,
            McpDiscovery discovery,
            CallJudges judges,
            Supplier<Optional<Problem>> obstacle,
            Function<AgentSpec, Optional<String>> lacks) {
        this.newest = agents;
        this.discovery = discovery;
        this.judges = judges;
        this.obstacle = obstacle;
        this.lacks = lacks;
    }

    @Override
    public AgentSpec resolve(AgentInput input) {
        requireKnownRules(input.rules());
        obstacle.get().ifPresent(problem -> {
            throw ActivityProblems.permanent(problem);
        });
        AgentDirectory agents = reread();
        AgentSpec found = withPresentSkills(find(agents, input), agents);
        AgentSpec agent = found.takesSignedDecisionsOnly()
                ? found.in(Activity.getExecutionContext().getInfo().getWorkflowId())
                : found;
        List<McpEntry> servers = agents.servers(agent.name());
        return judges.marked(servers.isEmpty() ? agent : complete(agent, servers));
    }

    @Override
    public AgentList list() {
        return AgentList.of(reread().agents().values(), lacks);
    }

    /** Rereads the agent files. Logs the invalid ones; new threads get their last valid versions. */
    private synchronized AgentDirectory reread() {
        try {
            newest = newest.reread(
                    problem -> LOG.error("New threads use the last valid version: {}", problem.getMessage()));
        } catch (IOException e) {
            LOG.error("The agent files can't be read. New threads use their last valid versions", e);
        }
        return newest;
    }

    /** Rereads the skills. If one of them is invalid, the thread gets all as they were last read with the agent. */
    private static AgentSpec withPresentSkills(AgentSpec agent, AgentDirectory agents) {
        try {
            return SkillFolders.read(agent, agents.path());
        } catch (IllegalArgumentException e) {
            LOG.error("New threads use the skills as they were read before: {}", e.getMessage());
            return agent;
        }
    }

    /** Leaves threads with unknown rules to other workers: this version cannot read agent files for them. */
    private static void requireKnownRules(int rules) {
        try {
            UnknownRulesException.unlessKnown(rules);
        } catch (UnknownRulesException e) {
            throw ActivityProblems.leftToOthers(e);
        }
    }

    /** Adds the tools of MCP servers. Sends heartbeats meanwhile, because these servers may be slow to start. */
    private AgentSpec complete(AgentSpec agent, List<McpEntry> servers) {
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            try {
                return discovery.complete(agent, servers);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }

    private static AgentSpec find(AgentDirectory agents, AgentInput input) {
        if (input.agent().isEmpty()) {
            return onlyAgent(agents);
        }
        return agents.find(input.agent())
                .orElseThrow(() -> ActivityProblems.permanent(new Problem(
                        ProblemType.NOT_FOUND,
                        "no agent \"" + input.agent() + "\". "
                                + Suggestion.of(input.agent(), agents.names())
                                        .map(meant -> "Did you mean \"" + meant + "\"? ")
                                        .orElse("")
                                + "Known agents: " + String.join(", ", agents.names()))));
    }

    /** Finds the agent for a conversation that names none, such as an imported one: the worker must have only one. */
    private static AgentSpec onlyAgent(AgentDirectory agents) {
        if (agents.names().size() != 1) {
            String all = agents.names().isEmpty() ? "none" : String.join(", ", agents.names());
            throw ActivityProblems.permanent(new Problem(
                    ProblemType.AGENT_INVALID, "no agent is named, and the worker does not have exactly one: " + all));
        }
        return agents.find(agents.names().get(0)).orElseThrow();
    }
}
