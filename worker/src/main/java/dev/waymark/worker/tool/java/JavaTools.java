package dev.waymark.worker.tool.java;

import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolNames;
import dev.waymark.agent.ToolSpec;
import dev.waymark.tool.RuleCheck;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The Java tools of a worker, in order. Agent files refer to them with {@code use:}. */
public final class JavaTools {

    /** No tools. */
    public static final JavaTools NONE = of();

    private final Map<String, Tool> byName;

    private JavaTools(Map<String, Tool> byName) {
        this.byName = Collections.unmodifiableMap(byName);
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
                throw new IllegalArgumentException("not of kind JAVA: " + name);
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
        return new JavaTools(byName);
    }

    /**
     * Returns these tools together with others; a tool that is in both is kept once.
     *
     * @throws IllegalArgumentException as {@link #of(List)}, also if two different tools have the same name
     */
    public JavaTools plus(List<? extends Tool> others) {
        List<Tool> all = new ArrayList<>(byName.values());
        others.stream().filter(tool -> !all.contains(tool)).forEach(all::add);
        return of(all.stream().distinct().toList());
    }

    /** The names of all tools, in order. */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /** The tool with this name. */
    public Optional<Tool> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }
}
