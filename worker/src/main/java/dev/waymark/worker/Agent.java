package dev.waymark.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.ToolMethods;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

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
    public static final class Builder {
        private final String name;
        private final List<ToolSpec> specs = new ArrayList<>();
        private final List<Tool> tools = new ArrayList<>();
        private String model = "";
        private UnaryOperator<AgentSpec.Builder> settings = UnaryOperator.identity();

        private Builder(String name) {
            this.name = name;
        }

        /** Sets the model, as {@code provider:model}. */
        public Builder model(String providerAndModel) {
            model = providerAndModel;
            return this;
        }

        /** Sets options of the model, such as effort. Default: the provider's own defaults. */
        public Builder options(ModelOptions chosen) {
            return set(spec -> spec.options(chosen));
        }

        /**
         * Sets fallback models, as {@code provider:model}. Each is used while the models before it are out of service.
         * Default: none.
         */
        public Builder fallback(String... models) {
            return fallback(Stream.of(models).map(FallbackModel::of).toArray(FallbackModel[]::new));
        }

        /**
         * Sets fallback models with their options, prices and limits. Each is used while the models before it are out
         * of service.
         */
        public Builder fallback(FallbackModel... models) {
            return set(spec -> spec.fallback(List.of(models)));
        }

        /**
         * Sets the maximum time without any part of a reply: 1 second to 9 minutes. After that, the attempt fails and
         * is retried, or a fallback is called. Default: 5 minutes. Fallbacks have their own limit.
         */
        public Builder silence(Duration most) {
            return set(spec -> spec.silence(most));
        }

        /** Describes the agent to people, and to agents that use it as a subagent. */
        public Builder description(String words) {
            return set(spec -> spec.description(words));
        }

        /** Sets the system prompt. */
        public Builder instructions(String words) {
            return set(spec -> spec.instructions(words));
        }

        /** Sets the maximum number of tokens of a reply. Default: 4,096. */
        public Builder maxTokens(int most) {
            return set(spec -> spec.maxTokens(most));
        }

        /** Sets the maximum number of model calls per turn. Default: 10. */
        public Builder maxIterations(int most) {
            return set(spec -> spec.maxIterations(most));
        }

        /**
         * Adds tools. Each argument is an object with methods annotated with {@link ToolMethod}, a {@link Tool}, or a
         * {@link ToolSpec} of a program, an HTTP request or a tool of an MCP server.
         */
        public Builder tools(Object... owners) {
            for (Object owner : owners) {
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
         * Sets how long calls wait for approval before they are denied. Default: forever. Replaces {@link #approvals}.
         */
        public Builder approvalTimeout(Duration most) {
            return set(spec -> spec.approvals(new AgentSpec.Approvals(false, Optional.of(most))));
        }

        /** Sets who decides about calls that need approval, and for how long they wait. Default: anyone, forever. */
        public Builder approvals(AgentSpec.Approvals by) {
            return set(spec -> spec.approvals(by));
        }

        /** Sets how much each thread of the agent may spend. Default: no limit. */
        public Builder budget(Budget most) {
            return set(spec -> spec.budget(most));
        }

        /** Sets the price of the model, if the provider does not know the price or if a different one applies. */
        public Builder pricing(Pricing price) {
            return set(spec -> spec.pricing(price));
        }

        /** Sets the context of the agent's threads, which is passed to the agent's tools. */
        public Builder context(Json carried) {
            return set(spec -> spec.context(carried));
        }

        /** Sets when conversations are summarized. Default: never. */
        public Builder summaries(SummaryRule rule) {
            return set(spec -> spec.summaries(rule));
        }

        private Builder set(UnaryOperator<AgentSpec.Builder> setting) {
            UnaryOperator<AgentSpec.Builder> before = settings;
            settings = spec -> setting.apply(before.apply(spec));
            return this;
        }

        /**
         * Builds the agent.
         *
         * @throws IllegalArgumentException if the model is missing, or two tools have the same name
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
            AgentSpec spec = settings.apply(new AgentSpec.Builder(name, model).tools(List.copyOf(specs)))
                    .build();
            return new Agent(spec, tools);
        }
    }
}
