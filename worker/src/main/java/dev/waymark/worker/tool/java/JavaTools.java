package dev.waymark.worker.tool.java;

import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolNames;
import dev.waymark.agent.ToolSpec;
import dev.waymark.tool.RuleCheck;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The Java tools of a worker, in order. Agent files name them in {@code use:}. Agents may have tools of their own. */
public final class JavaTools {

    /** No tools. */
    public static final JavaTools NONE = of();

    private final Map<String, Tool> byName;

    /** The tools of agents in Java, by the names of the agents. */
    private final Map<String, Map<String, Tool>> own;

    private JavaTools(Map<String, Tool> byName, Map<String, Map<String, Tool>> own) {
        this.byName = Collections.unmodifiableMap(byName);
        this.own = Collections.unmodifiableMap(own);
    }

    /**
     * Returns a set of tools, in this order.
     *
     * @throws IllegalArgumentException if a name is reserved or used twice, if a tool is not of kind {@code
     *     JAVA}, or if its input schema is invalid
     */
    public static JavaTools of(Tool... tools) {
        return of(Arrays.asList(tools));
    }

    /**
     * Returns a set of tools, in this order.
     *
     * @throws IllegalArgumentException if a name is reserved or used twice, if a tool is not of kind {@code
     *     JAVA}, or if its input schema is invalid
     */
    public static JavaTools of(List<? extends Tool> tools) {
        Map<String, Tool> byName = new LinkedHashMap<>();
        for (Tool tool : tools) {
            ToolSpec spec = tool.spec();
            String name = spec.name();
            if (ToolNames.isTaken(name) || BuiltInTools.GROUPS.contains(name)) {
                throw new IllegalArgumentException("this name is reserved: " + name);
            }
            if (spec.kind() != ToolSpec.Kind.JAVA) {
                throw new IllegalArgumentException("not a Java tool: " + name);
            }
            ToolArguments.schemaProblem(spec.input()).ifPresent(problem -> {
                throw new IllegalArgumentException("input schema of " + name + ": " + problem);
            });
            RuleCheck.problems(spec).forEach(problem -> {
                throw new IllegalArgumentException("approval of " + name + ": " + problem);
            });
            if (byName.put(name, tool) != null) {
                throw new IllegalArgumentException("duplicate tool name: " + name);
            }
        }
        return new JavaTools(byName, Map.of());
    }

    /**
     * Returns these tools and an agent's own tools, which may have the same names as other tools.
     *
     * @throws IllegalArgumentException as {@link #of(List)}
     */
    public JavaTools plus(String agent, List<? extends Tool> tools) {
        Map<String, Map<String, Tool>> all = new LinkedHashMap<>(own);
        all.put(agent, of(tools).byName);
        return new JavaTools(byName, all);
    }

    /** The names of all tools, in order. */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /** The tool with this name that agent files can refer to. */
    public Optional<Tool> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * The tool with this name that this agent has, or else that of the worker. Never another agent's tool: a call that
     * was approved for one agent must not run the tool of another.
     */
    public Optional<Tool> find(String agent, String name) {
        return Optional.ofNullable(own.getOrDefault(agent, Map.of()).get(name)).or(() -> find(name));
    }
}
