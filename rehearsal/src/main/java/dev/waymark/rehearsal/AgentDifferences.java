package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Budget;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names the differing parts of two definitions of an agent, as far as replies may depend on them. */
final class AgentDifferences {
    private final AgentSpec before;
    private final AgentSpec now;
    private final Set<String> names = new LinkedHashSet<>();

    private AgentDifferences(AgentSpec before, AgentSpec now) {
        this.before = before;
        this.now = now;
    }

    /** The names of the parts, for people, with the values that fit into a line. */
    static Set<String> of(AgentSpec before, AgentSpec now) {
        AgentDifferences found = new AgentDifferences(before, now);
        found.compare("instructions", AgentSpec::instructions);
        found.compareValues("model", AgentSpec::model);
        found.compare("options of the model", AgentSpec::options);
        toolNames(before, now).forEach(found::compareTool);
        // Other fields of the approvals differ in every thread, such as the name of the thread.
        found.compare(
                "who approves",
                agent -> agent.approvals().filter(AgentSpec.Approvals::nobody).isPresent());
        found.compareValues("max_tokens", AgentSpec::maxTokens);
        found.compareValues("max_iterations", AgentSpec::maxIterations);
        found.compareValues("budget", agent -> words(agent.budget()));
        found.compare("summaries", AgentSpec::summaries);
        found.compare("how long a result is shown", AgentSpec::results);
        return found.names;
    }

    /** The tools that are safe to retry now and were not before. */
    static List<String> newlySafe(AgentSpec before, AgentSpec now) {
        return now.allTools().stream()
                .filter(tool -> !tool.hasEffect()
                        && before.tool(tool.name()).filter(ToolSpec::hasEffect).isPresent())
                .map(ToolSpec::name)
                .toList();
    }

    private static Stream<String> toolNames(AgentSpec before, AgentSpec now) {
        return Stream.of(before, now)
                .flatMap(agent -> agent.allTools().stream())
                .map(ToolSpec::name)
                .distinct();
    }

    private void compareTool(String name) {
        Optional<ToolSpec> was = before.tool(name);
        Optional<ToolSpec> is = now.tool(name);
        if (was.isEmpty() || is.isEmpty()) {
            names.add((was.isEmpty() ? "a new tool `" : "no more tool `") + name + "`");
            return;
        }
        String of = " of `" + name + "`";
        compare("description" + of, agent -> tool(agent, name).description());
        compare("arguments" + of, agent -> tool(agent, name).input());
        compare("results" + of, agent -> tool(agent, name).output());
        compareValues("timeout" + of, agent -> tool(agent, name).timeout().toSeconds() + "s");
        if (was.get().implementation() instanceof ToolImplementation.Command old
                && is.get().implementation() instanceof ToolImplementation.Command other
                && !old.program().equals(other.program())) {
            names.add("command" + of + " " + changed(words(old), words(other)));
        } else {
            compare("implementation" + of, agent -> tool(agent, name).implementation());
        }
        compareValues("untrusted" + of, agent -> tool(agent, name).untrusted());
        compareValues("safe_to_retry" + of, agent -> !tool(agent, name).hasEffect());
        if (was.get().hasEffect() && is.get().hasEffect()) {
            compare("side effects" + of, agent -> tool(agent, name).effects());
        }
        compare(
                "approval rules" + of,
                agent -> List.of(
                        tool(agent, name).approval(),
                        tool(agent, name).rules(),
                        tool(agent, name).judged()));
    }

    private static ToolSpec tool(AgentSpec agent, String name) {
        return agent.tool(name).orElseThrow();
    }

    private static String words(ToolImplementation.Command command) {
        return "`" + String.join(" ", command.program()) + "`";
    }

    private static String words(Optional<Budget> budget) {
        String words = budget.stream()
                .flatMap(limits -> Stream.concat(
                        limits.usd().map(usd -> usd + " USD").stream(),
                        limits.tokens().map(tokens -> tokens + " tokens").stream()))
                .collect(Collectors.joining(" and "));
        return words.isEmpty() ? "none" : words;
    }

    private void compare(String name, Function<AgentSpec, Object> part) {
        if (!Objects.equals(part.apply(before), part.apply(now))) {
            names.add(name);
        }
    }

    private void compareValues(String name, Function<AgentSpec, Object> value) {
        if (!value.apply(before).equals(value.apply(now))) {
            names.add(name + " " + changed(value.apply(before), value.apply(now)));
        }
    }

    private static String changed(Object before, Object now) {
        return before + " → " + now;
    }
}
