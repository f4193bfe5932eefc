package dev.waymark.worker;

import dev.waymark.agent.AgentSettings;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.ToolMethods;
import dev.waymark.worker.tool.java.JavaTools;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An agent defined in Java: the settings that an agent file would have, and the tools themselves.
 *
 * <pre>{@code
 * Agent billing = Agent.named("billing")
 *         .model("anthropic:claude-haiku-4-5")
 *         .instructions("You settle bills.")
 *         .tools(new Billing(payments)) // its methods with @ToolMethod
 *         .use("ask_user")
 *         .build();
 * AgentWorker.on(connection).agent(billing).build().start();
 * }</pre>
 *
 * @param spec the agent's definition, which its threads record
 * @param tools the Java tools among the tools of the spec
 */
public record Agent(AgentSpec spec, List<Tool> tools) {
    public Agent {
        tools = List.copyOf(tools);
    }

    /** Starts building an agent with this name, of 1 to 64 letters, digits, {@code _} and {@code -}. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** Returns the name that callers pass to start a thread. */
    public String name() {
        return spec.name();
    }

    /** Builds an agent. Only the model is required. */
    public static final class Builder extends AgentSettings<Builder> {
        private final String name;
        private final List<ToolSpec> specs = new ArrayList<>();
        private final List<ToolSpec> deferred = new ArrayList<>();
        private final List<Tool> tools = new ArrayList<>();
        private String model = "";

        private Builder(String name) {
            this.name = name;
        }

        /** Sets the model, as {@code provider:model}. */
        public Builder model(String providerAndModel) {
            model = providerAndModel;
            return this;
        }

        /**
         * Adds tools. Each argument is an object with methods annotated with {@link ToolMethod}, a {@link Tool}, or a
         * {@link ToolSpec} of a program, an HTTP request or a tool of an MCP server, or a collection of these.
         */
        public Builder tools(Object... owners) {
            for (Object owner : owners) {
                if (owner instanceof Collection<?> several) {
                    tools(several.toArray());
                    continue;
                }
                if (owner instanceof ToolSpec spec) {
                    specs.add(spec);
                    continue;
                }
                List<Tool> found = owner instanceof Tool tool ? List.of(tool) : ToolMethods.of(owner);
                tools.addAll(found);
                found.forEach(tool -> specs.add(tool.spec()));
            }
            return this;
        }

        /**
         * Adds tools that are not in the list that a model is sent: it finds them with {@code find_tools} and calls them
         * with {@code use_tool}. The arguments are those of {@link #tools}.
         */
        public Builder deferred(Object... owners) {
            int before = specs.size();
            tools(owners);
            List<ToolSpec> added = specs.subList(before, specs.size());
            deferred.addAll(added);
            added.clear();
            return this;
        }

        /** Adds built-in tools: {@code ask_user}, {@code todos}, {@code plan} or {@code files}. */
        public Builder use(String... groups) {
            for (String group : groups) {
                specs.addAll(BuiltInTools.of(group));
            }
            return this;
        }

        /** Adds another agent as a tool. The worker must have that agent, too. */
        public Builder subagent(Agent other) {
            return tools(
                    ToolSpec.subagent(other.name(), other.spec().description().orElse("Executes a task.")));
        }

        /**
         * Builds the agent.
         *
         * @throws IllegalArgumentException if the model is missing, a setting or a tool is invalid, or two tools have
         *     the same name
         */
        public Agent build() {
            if (model.isEmpty()) {
                throw new IllegalArgumentException("agent " + name + " has no model. Add .model(\"provider:name\")");
            }
            Map<String, ToolSpec> byName = new LinkedHashMap<>();
            for (ToolSpec spec : specs) {
                if (byName.put(spec.name(), spec) != null) {
                    throw new IllegalArgumentException("agent " + name + " has two tools with the name " + spec.name());
                }
            }
            if (!deferred.isEmpty()) {
                deferred(DeferredTools.of(deferred));
            }
            JavaTools.of(tools); // Refuses tools that no worker could have.
            return new Agent(spec(name, model, specs), tools);
        }

        @Override
        protected Builder self() {
            return this;
        }
    }
}
