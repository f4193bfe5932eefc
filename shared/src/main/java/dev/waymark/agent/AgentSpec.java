package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.Signers;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.SignerKey;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * An agent, as one thread uses it. Histories contain it as the result of the {@code agent} activity, so fields are only
 * ever added. It contains no secrets: {@code ${NAME}} is kept as written.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record AgentSpec(
        @JsonProperty("name") String name,
        @JsonProperty("description") Optional<String> description,
        @JsonProperty("instructions") Optional<String> instructions,
        @JsonProperty("model") String model,
        @JsonProperty("maxTokens") int maxTokens,
        @JsonProperty("maxIterations") int maxIterations,
        @JsonProperty("tools") List<ToolSpec> tools,
        @JsonProperty("approvals") Optional<Approvals> approvals,
        @JsonProperty("budget") Optional<Budget> budget,
        @JsonProperty("pricing") Optional<Pricing> pricing,
        @JsonProperty("context") Optional<Json> context,
        @JsonProperty("summaries") Optional<SummaryRule> summaries,
        @JsonProperty("options") Optional<ModelOptions> options,

        @JsonProperty("fallback") @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<FallbackModel> fallback,

        @JsonProperty("silence") Optional<Duration> silence) {
    /** The default maximum number of tokens of a reply. */
    public static final int DEFAULT_MAX_TOKENS = 4_096;
    /** The default maximum number of model calls per turn. */
    public static final int DEFAULT_MAX_ITERATIONS = 10;
    /** How long a model may stay silent by default. Some models think for minutes before they send anything. */
    public static final Duration DEFAULT_SILENCE = Duration.ofMinutes(5);

    @JsonCreator
    public AgentSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(model, "model");
        description = description == null ? Optional.empty() : description;
        instructions = instructions == null ? Optional.empty() : instructions;
        tools = List.copyOf(tools);
        approvals = approvals == null ? Optional.empty() : approvals;
        budget = budget == null ? Optional.empty() : budget;
        pricing = pricing == null ? Optional.empty() : pricing;
        context = context == null ? Optional.empty() : context;
        summaries = summaries == null ? Optional.empty() : summaries;
        options = options == null ? Optional.empty() : options;
        fallback = fallback == null ? List.of() : List.copyOf(fallback);
        silence = silence == null ? Optional.empty() : silence;
    }

    /**
     * Who decides about calls that need approval. With {@code nobody}, such calls are denied at once. Otherwise people
     * decide; if {@code timeout} is set, a call is denied when nobody has decided in this time.
     *
     * @param signers if not empty, only decisions signed by one of them count
     * @param thread the thread of this agent; a signature is valid for one thread only
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Approvals(
            @JsonProperty("nobody") boolean nobody,
            @JsonProperty("timeout") Optional<Duration> timeout,

            @JsonProperty("signers") @JsonInclude(JsonInclude.Include.NON_EMPTY)
            Map<String, SignerKey> signers,

            @JsonProperty("thread") Optional<String> thread) {
        @JsonCreator
        public Approvals {
            timeout = timeout == null ? Optional.empty() : timeout;
            signers = signers == null
                    ? Collections.emptyMap()
                    : Collections.unmodifiableMap(new LinkedHashMap<>(signers));
            thread = thread == null ? Optional.empty() : thread;
        }

        public Approvals(boolean nobody, Optional<Duration> timeout) {
            this(nobody, timeout, Collections.emptyMap(), Optional.empty());
        }

        /** Accepts only decisions signed by one of these. */
        public Approvals signedBy(Map<String, SignerKey> all) {
            return new Approvals(nobody, timeout, all, thread);
        }

        private AgentPolicy.Approvals terms() {
            Optional<Signers> required =
                    signers.isEmpty() ? Optional.empty() : Optional.of(new Signers(thread.orElse(""), signers));
            return new AgentPolicy.Approvals(nobody, timeout.map(Duration::toMillis), required);
        }
    }

    /** An agent with these tools, and defaults for everything else. */
    public static AgentSpec of(String name, String model, ToolSpec... tools) {
        return new Builder(name, model).tools(List.of(tools)).build();
    }

    /** Whether decisions about calls count only if they are signed. */
    @JsonIgnore
    public boolean takesSignedDecisionsOnly() {
        return approvals.filter(by -> !by.signers().isEmpty()).isPresent();
    }

    /** A copy whose signed decisions must name this thread. The agent must have {@link Approvals}. */
    public AgentSpec in(String thread) {
        Approvals by = approvals.orElseThrow();
        return with().approvals(new Approvals(by.nobody(), by.timeout(), by.signers(), Optional.of(thread)))
                .build();
    }

    /** A builder with the values of this agent. */
    public Builder with() {
        return new Builder(this);
    }

    /** Builds an {@link AgentSpec}. Everything except the name and the model is optional. */
    public static final class Builder {
        private final String name;
        private final String model;
        private Optional<String> description = Optional.empty();
        private Optional<String> instructions = Optional.empty();
        private int maxTokens = DEFAULT_MAX_TOKENS;
        private int maxIterations = DEFAULT_MAX_ITERATIONS;
        private List<ToolSpec> tools = List.of();
        private Optional<Approvals> approvals = Optional.empty();
        private Optional<Budget> budget = Optional.empty();
        private Optional<Pricing> pricing = Optional.empty();
        private Optional<Json> context = Optional.empty();
        private Optional<SummaryRule> summaries = Optional.empty();
        private Optional<ModelOptions> options = Optional.empty();
        private List<FallbackModel> fallback = List.of();
        private Optional<Duration> silence = Optional.empty();

        public Builder(String name, String model) {
            this.name = name;
            this.model = model;
        }

        private Builder(AgentSpec spec) {
            this(spec.name, spec.model);
            description = spec.description;
            instructions = spec.instructions;
            maxTokens = spec.maxTokens;
            maxIterations = spec.maxIterations;
            tools = spec.tools;
            approvals = spec.approvals;
            budget = spec.budget;
            pricing = spec.pricing;
            context = spec.context;
            summaries = spec.summaries;
            options = spec.options;
            fallback = spec.fallback;
            silence = spec.silence;
        }

        /** What the agent does, for people and for agents that have it as a subagent. */
        public Builder description(String words) {
            description = Optional.of(words);
            return this;
        }

        /** The system prompt. */
        public Builder instructions(String words) {
            instructions = Optional.of(words);
            return this;
        }

        /** The maximum number of tokens of a reply. */
        public Builder maxTokens(int most) {
            maxTokens = most;
            return this;
        }

        /** The maximum number of model calls per turn. */
        public Builder maxIterations(int most) {
            maxIterations = most;
            return this;
        }

        /** All tools of the agent, in the order in which the model sees them. */
        public Builder tools(List<ToolSpec> all) {
            tools = all;
            return this;
        }

        /** Who decides about calls that need approval. Default: people, without a time limit. */
        public Builder approvals(Approvals by) {
            approvals = Optional.of(by);
            return this;
        }

        /** The budget of a thread. */
        public Builder budget(Budget most) {
            budget = Optional.of(most);
            return this;
        }

        /** The price of the model. Default: the price that the provider knows, if any. */
        public Builder pricing(Pricing price) {
            pricing = Optional.of(price);
            return this;
        }

        /** The context with which the agent's threads start, for their tools. */
        public Builder context(Json carried) {
            context = Optional.of(carried);
            return this;
        }

        /** When conversations are summarized. Default: never. */
        public Builder summaries(SummaryRule rule) {
            summaries = Optional.of(rule);
            return this;
        }

        /** Options of the model. Default: those of the provider. */
        public Builder options(ModelOptions chosen) {
            options = chosen.equals(ModelOptions.NONE) ? Optional.empty() : Optional.of(chosen);
            return this;
        }

        /** The models that answer, in this order, while all models before them are out of service. Default: none. */
        public Builder fallback(List<FallbackModel> others) {
            fallback = others;
            return this;
        }

        /**
         * How long the model may send no part of its reply before the attempt fails, from 1 second to 9 minutes.
         * Default: 5 minutes.
         */
        public Builder silence(Duration most) {
            silence = Optional.of(most);
            return this;
        }

        /** Returns the agent with the values set so far. */
        public AgentSpec build() {
            return new AgentSpec(
                    name,
                    description,
                    instructions,
                    model,
                    maxTokens,
                    maxIterations,
                    tools,
                    approvals,
                    budget,
                    pricing,
                    context,
                    summaries,
                    options,
                    fallback,
                    silence);
        }
    }

    /** The tool with this name. */
    public Optional<ToolSpec> tool(String toolName) {
        return tools.stream().filter(tool -> tool.name().equals(toolName)).findFirst();
    }

    /** The parts of this definition that the rules of the conversation need. */
    public AgentPolicy terms() {
        Map<String, AgentPolicy.Executor> executors = new LinkedHashMap<>();
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        for (ToolSpec tool : tools) {
            executors.put(tool.name(), tool.kind().executor());
            if (!tool.policy().equals(AgentPolicy.ToolPolicy.NONE)) {
                policies.put(tool.name(), tool.policy());
            }
        }
        return new AgentPolicy(
                name, maxIterations, executors, policies, approvals.map(Approvals::terms), budget, context, summaries);
    }
}
