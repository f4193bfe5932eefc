package dev.waymark.worker.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** Names the parts in which two definitions of an agent differ, as far as decisions may depend on them. */
final class AgentDifferences {
    private final AgentSpec before;
    private final AgentSpec now;
    private final Set<String> names = new LinkedHashSet<>();

    private AgentDifferences(AgentSpec before, AgentSpec now) {
        this.before = before;
        this.now = now;
    }

    /** The names of the parts, for people. */
    static Set<String> of(AgentSpec before, AgentSpec now) {
        AgentDifferences found = new AgentDifferences(before, now);
        found.compare("instructions", AgentSpec::instructions);
        found.compare("model", agent -> List.of(agent.model(), agent.options()));
        Stream.of(before, now)
                .flatMap(agent -> agent.tools().stream())
                .map(ToolSpec::name)
                .forEach(found::compareTool);
        // A thread's agent has more in its approvals, such as the name of the thread.
        found.compare(
                "who approves",
                agent -> agent.approvals().filter(AgentSpec.Approvals::nobody).isPresent());
        found.compare("limits", agent -> List.of(agent.maxTokens(), agent.maxIterations(), agent.budget()));
        found.compare("summaries", AgentSpec::summaries);
        return found.names;
    }

    private void compareTool(String name) {
        compare(
                "tool `" + name + "`",
                agent -> agent.tool(name)
                        .map(tool -> List.of(
                                tool.description(),
                                tool.input(),
                                tool.output(),
                                tool.timeout(),
                                tool.implementation(),
                                tool.effects())));
        if (before.tool(name).isPresent() && now.tool(name).isPresent()) {
            compare(
                    "approval rules of `" + name + "`",
                    agent -> agent.tool(name).map(tool -> List.of(tool.approval(), tool.rules(), tool.judged())));
        }
    }

    private void compare(String name, Function<AgentSpec, Object> part) {
        if (!part.apply(before).equals(part.apply(now))) {
            names.add(name);
        }
    }
}
