package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.policy.WaitRule;
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
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * An agent, as one thread uses it. Histories contain it as the result of the {@code agent} activity, so fields are only
 * ever added. It contains no secrets: {@code ${NAME}} is kept as written.
 *
 * @param continueCut how often a turn may ask the model to continue a reply that was cut
 * @param fallbackOnRefusal whether the next model is called if a model refuses to answer
 * @param results how much of a long result the model is shown; everything if empty
 */
public record AgentSpec(
        String name,
        Optional<String> description,
        Optional<String> instructions,
        String model,
        int maxTokens,
        int maxIterations,
        List<ToolSpec> tools,
        Optional<Approvals> approvals,
        Optional<Budget> budget,
        Optional<Pricing> pricing,
        Optional<Json> context,
        Optional<SummaryRule> summaries,
        Optional<ModelOptions> options,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FallbackModel> fallback,
        Optional<Duration> silence,
        Optional<Duration> fuse,
        Optional<Duration> retryFor,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<AnnounceRule> announce,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int continueCut,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean fallbackOnRefusal,
        Optional<ResultRule> results) {
    /** The default maximum number of tokens of a reply, which include its thinking. */
    public static final int DEFAULT_MAX_TOKENS = 16_000;
    /** The maximum number of times that a turn may ask the model to continue a reply that was cut. */
    public static final int MOST_CONTINUATIONS = 10;

    /** How many fallbacks an agent may have. With more, a model call could run out of attempts before the last ones. */
    public static final int MOST_FALLBACKS = 4;
    /** The shortest time after which a silent model may be given up. */
    public static final Duration LEAST_SILENCE = Duration.ofSeconds(1);
    /** How long a model may be allowed to stay silent: less than one attempt of a model call, which has 10 minutes. */
    public static final Duration MOST_SILENCE = Duration.ofMinutes(9);
    /** How long a tool may be allowed to take in the activity that called the model. */
    public static final Duration MOST_FUSE = Duration.ofMinutes(1);
    /** How long a model call may be retried. */
    public static final Duration MOST_RETRY_FOR = Duration.ofHours(24);

    /** The default maximum number of model calls per turn. */
    public static final int DEFAULT_MAX_ITERATIONS = 10;
    /** How long a model may stay silent by default. Some models think for minutes before they send anything. */
    public static final Duration DEFAULT_SILENCE = Duration.ofMinutes(5);

    /** The default maximum time of a call that runs in the activity that called the model. */
    public static final Duration DEFAULT_FUSE = Duration.ofSeconds(2);

    public AgentSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(model, "model");
        tools = List.copyOf(tools);
        fallback = fallback == null ? List.of() : List.copyOf(fallback);
        announce = announce == null ? List.of() : List.copyOf(announce);
    }

    /**
     * Who decides about calls that need approval. With {@code nobody}, such calls are denied at once. Otherwise people
     * decide; if {@code timeout} is set, a call is denied when nobody has decided in this time.
     *
     * @param signers if not empty, only decisions signed by one of them count
     * @param thread the thread of this agent; a signature is valid for one thread only
     */
    public record Approvals(
            boolean nobody,
            Optional<Duration> timeout,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, SignerKey> signers,
            Optional<String> thread,
            Optional<WaitRule> waiting) {
        public Approvals {
            signers = signers == null
                    ? Collections.emptyMap()
                    : Collections.unmodifiableMap(new LinkedHashMap<>(signers));
        }

        public Approvals(boolean nobody, Optional<Duration> timeout) {
            this(nobody, timeout, Collections.emptyMap(), Optional.empty(), Optional.empty());
        }

        /** Accepts only decisions signed by one of these. */
        public Approvals signedBy(Map<String, SignerKey> all) {
            return new Approvals(nobody, timeout, all, thread, waiting);
        }

        /** Sets what happens while a request waits: for approval, an answer, or the outcome of a call. */
        public Approvals waiting(WaitRule how) {
            return new Approvals(nobody, timeout, signers, thread, Optional.of(how));
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
        return with().approvals(
                        new Approvals(by.nobody(), by.timeout(), by.signers(), Optional.of(thread), by.waiting()))
                .build();
    }

    /**
     * A copy that calls another model, as {@code provider:model}, without the options, the price and the fallbacks of
     * its own model.
     */
    public AgentSpec withModel(String other) {
        return new AgentSpec(
                name,
                description,
                instructions,
                other,
                maxTokens,
                maxIterations,
                tools,
                approvals,
                budget,
                Optional.empty(),
                context,
                summaries,
                Optional.empty(),
                List.of(),
                silence,
                fuse,
                retryFor,
                announce,
                continueCut,
                false,
                results);
    }

    /** A builder with the values of this agent. */
    public Builder with() {
        return new Builder(this);
    }

    /** Builds an {@link AgentSpec}. Everything except the name and the model is optional. */
    public static final class Builder extends AgentSettings<Builder> {
        private final String name;
        private final String model;
        private List<ToolSpec> tools = List.of();

        public Builder(String name, String model) {
            this.name = name;
            this.model = model;
        }

        private Builder(AgentSpec spec) {
            super(spec);
            name = spec.name;
            model = spec.model;
            tools = spec.tools;
        }

        /** Sets all tools of the agent, in the order in which the model sees them. */
        public Builder tools(List<ToolSpec> all) {
            tools = all;
            return this;
        }

        /** Returns the agent with the values set so far. */
        public AgentSpec build() {
            return spec(name, model, tools);
        }

        @Override
        protected Builder self() {
            return this;
        }
    }

    /** The tool with this name, which may be deferred. */
    public Optional<ToolSpec> tool(String toolName) {
        return tools.stream()
                .filter(tool -> tool.name().equals(toolName))
                .findFirst()
                .or(() -> deferred().flatMap(own -> own.find(toolName)));
    }

    /** All tools: those that a model is sent, and then the deferred ones. */
    public List<ToolSpec> allTools() {
        return deferred()
                .map(own -> Stream.concat(tools.stream(), own.tools().stream()).toList())
                .orElse(tools);
    }

    /** A copy with further tools, of which the model finds the deferred ones. */
    public AgentSpec withMore(List<ToolSpec> sent, List<ToolSpec> toFind) {
        Builder all = with().tools(Stream.concat(tools.stream(), sent.stream()).toList());
        if (!toFind.isEmpty()) {
            Stream<ToolSpec> own = deferred().stream().flatMap(known -> known.tools().stream());
            all.deferred(DeferredTools.of(Stream.concat(own, toFind.stream()).toList()));
        }
        return all.build();
    }

    /** A copy with another version of each tool, which has the same name. */
    public AgentSpec withEach(UnaryOperator<ToolSpec> change) {
        AgentSpec changed = deferred()
                .map(own -> DeferredTools.of(own.tools().stream().map(change).toList()))
                .map(own -> with().deferred(own).build())
                .orElse(this);
        return changed.with().tools(changed.tools.stream().map(change).toList()).build();
    }

    /** The agent's deferred tools, if it may have any. */
    public Optional<DeferredTools> deferred() {
        return tools.stream()
                .filter(tool -> tool.name().equals(DeferredTools.FIND_TOOL))
                .map(ToolSpec::implementation)
                .filter(DeferredTools.class::isInstance)
                .map(DeferredTools.class::cast)
                .findFirst();
    }

    /** The agent's skills, if it has any. Their names and descriptions are at the end of its instructions. */
    public Optional<Skills> skills() {
        return tool(Skills.READ_TOOL)
                .map(ToolSpec::implementation)
                .filter(Skills.class::isInstance)
                .map(Skills.class::cast);
    }

    /** How long a tool may take to run in the activity that called the model; zero if none may. */
    public Duration fuseLimit() {
        return fuse.orElse(DEFAULT_FUSE);
    }
}
