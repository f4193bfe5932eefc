package dev.waymark.agent;

import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The settings of an agent, for everything that builds one. All are optional.
 *
 * @param <B> the builder, which each setter returns
 */
public abstract class AgentSettings<B extends AgentSettings<B>> {
    private Optional<String> description = Optional.empty();
    private Optional<String> instructions = Optional.empty();
    private int maxTokens = AgentSpec.DEFAULT_MAX_TOKENS;
    private int maxIterations = AgentSpec.DEFAULT_MAX_ITERATIONS;
    private Optional<AgentSpec.Approvals> approvals = Optional.empty();
    private Optional<Budget> budget = Optional.empty();
    private Optional<Pricing> pricing = Optional.empty();
    private Optional<Json> context = Optional.empty();
    private Optional<SummaryRule> summaries = Optional.empty();
    private Optional<ModelOptions> options = Optional.empty();
    private List<FallbackModel> fallback = List.of();
    private Optional<Duration> silence = Optional.empty();
    private Optional<Duration> fuse = Optional.empty();
    private Optional<Duration> retryFor = Optional.empty();
    private List<AnnounceRule> announce = List.of();
    private int continueCut;
    private boolean fallbackOnRefusal;
    private Optional<ResultRule> results = Optional.empty();
    private Optional<Skills> skills = Optional.empty();
    private Optional<DeferredTools> deferred = Optional.empty();

    /** Starts with the defaults. */
    protected AgentSettings() {}

    /** Starts with the settings of this agent. */
    AgentSettings(AgentSpec spec) {
        description = spec.description();
        skills = spec.skills();
        instructions = skills.map(own -> own.removedFrom(spec.instructions())).orElseGet(spec::instructions);
        maxTokens = spec.maxTokens();
        maxIterations = spec.maxIterations();
        approvals = spec.approvals();
        budget = spec.budget();
        pricing = spec.pricing();
        context = spec.context();
        summaries = spec.summaries();
        options = spec.options();
        fallback = spec.fallback();
        silence = spec.silence();
        fuse = spec.fuse();
        retryFor = spec.retryFor();
        announce = spec.announce();
        continueCut = spec.continueCut();
        fallbackOnRefusal = spec.fallbackOnRefusal();
        results = spec.results();
        deferred = spec.deferred();
    }

    /** Returns this builder. */
    protected abstract B self();

    /**
     * Returns an agent with the settings so far, and these tools in the order in which the model sees them.
     *
     * @throws IllegalArgumentException if the name is malformed, or a setting is invalid
     */
    protected final AgentSpec spec(String name, String model, List<ToolSpec> tools) {
        List<ToolSpec> reading = results.map(rule -> BuiltInTools.with(BuiltInTools.readResult(), tools))
                .orElse(tools);
        List<ToolSpec> all = skills.map(own -> BuiltInTools.with(BuiltInTools.readSkill(own), reading))
                .orElse(reading);
        ToolNames.problem(name)
                .or(() -> atLeastOne("maxTokens", maxTokens))
                .or(() -> atLeastOne("maxIterations", maxIterations))
                .or(() -> continueCut < 0 || continueCut > AgentSpec.MOST_CONTINUATIONS
                        ? Optional.of(
                                "continueCut must be 0 to " + AgentSpec.MOST_CONTINUATIONS + ", found " + continueCut)
                        : Optional.empty())
                .or(() -> fallbackOnRefusal && fallback.isEmpty()
                        ? Optional.of("fallbackOnRefusal needs a fallback")
                        : Optional.empty())
                .or(() -> results.filter(rule -> BuiltInTools.hasAnother(BuiltInTools.readResult(), tools))
                        .map(rule -> "an agent with results has a built-in tool read_result; rename its own"))
                .or(() -> skills.filter(own -> own.folders().isEmpty()).map(own -> "skills: no folders given"))
                .or(() -> skills.filter(own -> BuiltInTools.hasAnother(BuiltInTools.readSkill(own), tools))
                        .map(own -> "an agent with skills has a built-in tool read_skill; rename its own"))
                .or(() -> deferred.flatMap(own -> deferredProblem(own, all)))
                .or(() -> fallback.size() > AgentSpec.MOST_FALLBACKS
                        ? Optional.of("it has " + fallback.size() + " fallbacks, at most " + AgentSpec.MOST_FALLBACKS)
                        : Optional.empty())
                .or(() -> Stream.concat(silence.stream(), fallback.stream().flatMap(each -> each.silence().stream()))
                        .flatMap(each ->
                                outside("silence", each, AgentSpec.LEAST_SILENCE, AgentSpec.MOST_SILENCE).stream())
                        .findFirst())
                .or(() -> fuse.flatMap(each -> outside("fuse", each, Duration.ZERO, AgentSpec.MOST_FUSE)))
                .or(() -> retryFor.flatMap(each -> outside("retryFor", each, Duration.ZERO, AgentSpec.MOST_RETRY_FOR)))
                .or(() ->
                        announce.stream().map(AnnounceRule::receiver).distinct().count() != announce.size()
                                        || announce.size() > AnnounceRule.MOST_RECEIVERS
                                ? Optional.of(
                                        "expected at most " + AnnounceRule.MOST_RECEIVERS + " receivers, each once")
                                : Optional.empty())
                .or(() -> description
                        .filter(String::isBlank)
                        .map(empty -> "the description is empty. Say what the agent does, or leave it out"))
                .ifPresent(why -> {
                    throw new IllegalArgumentException("agent " + name + ": " + why);
                });
        return new AgentSpec(
                name,
                description,
                skills.map(own -> own.addedTo(instructions)).orElse(instructions),
                model,
                maxTokens,
                maxIterations,
                deferred.map(own -> BuiltInTools.with(
                                BuiltInTools.useTool(), BuiltInTools.with(BuiltInTools.findTools(own), all)))
                        .orElse(all),
                approvals,
                budget,
                pricing,
                context,
                summaries,
                options,
                fallback,
                silence,
                fuse,
                retryFor,
                announce,
                continueCut,
                fallbackOnRefusal,
                results);
    }

    private static Optional<String> deferredProblem(DeferredTools own, List<ToolSpec> tools) {
        return Stream.of(BuiltInTools.findTools(own), BuiltInTools.useTool())
                .filter(builtIn -> BuiltInTools.hasAnother(builtIn, tools)
                        || own.find(builtIn.name()).isPresent())
                .findFirst()
                .map(builtIn ->
                        "an agent with deferred tools has a built-in tool " + builtIn.name() + "; rename its own")
                .or(() -> tools.stream()
                        .map(ToolSpec::name)
                        .filter(name -> own.find(name).isPresent())
                        .findFirst()
                        .map(name -> "two tools have the name " + name));
    }

    private static Optional<String> atLeastOne(String setting, int value) {
        return value < 1 ? Optional.of(setting + " must be at least 1, found " + value) : Optional.empty();
    }

    private static Optional<String> outside(String setting, Duration value, Duration least, Duration most) {
        return value.compareTo(least) < 0 || value.compareTo(most) > 0
                ? Optional.of(setting + " must be " + least + " to " + most + ", found " + value)
                : Optional.empty();
    }

    /** Describes the agent to people, and to agents that use it as a subagent. */
    public final B description(String words) {
        description = Optional.of(words);
        return self();
    }

    /** Sets the system prompt. */
    public final B instructions(String words) {
        instructions = Optional.of(words);
        return self();
    }

    /** Sets the maximum number of tokens of a reply, with its thinking. Default: 16,000. */
    public final B maxTokens(int most) {
        maxTokens = most;
        return self();
    }

    /**
     * Sets how often a turn asks the model to continue a reply that reached {@link #maxTokens}. Default: 0, which ends
     * the turn as cut.
     */
    public final B continueCut(int times) {
        continueCut = times;
        return self();
    }

    /** Sets the maximum number of model calls per turn. Default: 10. */
    public final B maxIterations(int most) {
        maxIterations = most;
        return self();
    }

    /** Sets who decides about calls that need approval, and for how long they wait. Default: anyone, forever. */
    public final B approvals(AgentSpec.Approvals by) {
        approvals = Optional.of(by);
        return self();
    }

    /** Sets how long calls wait for approval before they are denied. Default: forever. Replaces {@link #approvals}. */
    public final B approvalTimeout(Duration most) {
        return approvals(new AgentSpec.Approvals(false, Optional.of(most)));
    }

    /** Sets how much each thread of the agent may spend. Default: no limit. */
    public final B budget(Budget most) {
        budget = Optional.of(most);
        return self();
    }

    /** Sets how many US dollars each thread may spend, such as {@code "2.50"}. Keeps a limit in tokens. */
    public final B budgetUsd(String dollars) {
        return budget(new Budget(Budget.ofUsd(dollars).usd(), budget.flatMap(Budget::tokens)));
    }

    /** Sets how many tokens each thread may use. Keeps a limit in dollars. */
    public final B budgetTokens(long most) {
        return budget(
                new Budget(budget.flatMap(Budget::usd), Budget.ofTokens(most).tokens()));
    }

    /** Sets the price of the model, if the provider does not know the price or if a different one applies. */
    public final B pricing(Pricing price) {
        pricing = Optional.of(price);
        return self();
    }

    /** Sets the price of the model's input and output, in US dollars per million tokens, such as {@code "0.80"}. */
    public final B pricing(String input, String output) {
        return pricing(Pricing.of(input, output));
    }

    /** Sets the context with which the agent's threads start, which is passed to their tools. */
    public final B context(Json carried) {
        context = Optional.of(carried);
        return self();
    }

    /** Sets when conversations are summarized. Default: never. */
    public final B summaries(SummaryRule rule) {
        summaries = Optional.of(rule);
        return self();
    }

    /**
     * Sets how much of a long result the model is shown, and gives it a tool {@code read_result} to read the rest.
     * Default: everything, up to the 256 KiB that a result may have.
     */
    public final B results(ResultRule rule) {
        results = Optional.of(rule);
        return self();
    }

    /**
     * Sets folders with skills, each of which is a folder with a file {@code SKILL.md}, and gives the agent a tool
     * {@code read_skill}. Names and descriptions are added to the instructions. The worker reads the folders when it is
     * built and when a thread starts; relative paths begin at the directory of its agent files. Default: none.
     */
    public final B skills(Path... folders) {
        return skills(new Skills(Stream.of(folders).map(String::valueOf).toList(), List.of()));
    }

    /** Sets the skills that were found in folders. */
    public final B skills(Skills all) {
        skills = Optional.of(all);
        return self();
    }

    /**
     * Sets the tools that are not in the list that a model is sent, up to 2,000, and gives the agent the tools
     * {@code find_tools} and {@code use_tool}. Default: none.
     */
    public final B deferred(DeferredTools all) {
        deferred = Optional.of(all);
        return self();
    }

    /** Sets options of the model, such as effort. Default: the provider's own defaults. */
    public final B options(ModelOptions chosen) {
        options = chosen.equals(ModelOptions.NONE) ? Optional.empty() : Optional.of(chosen);
        return self();
    }

    /**
     * Sets fallback models, as {@code provider:model}. Each is used while the models before it are out of service.
     * Default: none.
     */
    public final B fallback(String... models) {
        return fallback(Stream.of(models).map(FallbackModel::of).toList());
    }

    /**
     * Sets fallback models with their options, prices and limits. Each is used while the models before it are out of
     * service.
     */
    public final B fallback(FallbackModel... models) {
        return fallback(List.of(models));
    }

    /**
     * Also calls the next model if one refuses to answer, with the same request. By default, a refusal ends the turn: a
     * fallback is for outages, and another model may follow other rules.
     */
    public final B fallbackOnRefusal() {
        fallbackOnRefusal = true;
        return self();
    }

    /** Sets the fallback models, in the order in which they are tried. */
    public final B fallback(List<FallbackModel> models) {
        fallback = List.copyOf(models);
        return self();
    }

    /**
     * Sets the maximum time without any part of a reply: 1 second to 9 minutes. After that, the attempt fails and is
     * retried, or a fallback is called. Default: 5 minutes. Fallbacks have their own limit.
     */
    public final B silence(Duration most) {
        silence = Optional.of(most);
        return self();
    }

    /**
     * Sets how long a model call is retried after its first transient failure, such as a rate limit: zero, or up to 24
     * hours. A fallback that has not failed yet is called in any case. Default: ten attempts, which take about 150
     * seconds unless the provider requests other delays.
     */
    public final B retryFor(Duration most) {
        retryFor = Optional.of(most);
        return self();
    }

    /**
     * Sets what is announced to receivers in the settings of the workers: requests that wait for people, their ends, and
     * ends of turns. Default: nothing. An escalation has a receiver of its own.
     */
    public final B announce(AnnounceRule... rules) {
        return announce(List.of(rules));
    }

    /** Sets what is announced to which receivers. */
    public final B announce(List<AnnounceRule> rules) {
        announce = List.copyOf(rules);
        return self();
    }

    /**
     * Sets how long a tool that is safe to retry may take to run in the activity that called the model, without an
     * activity of its own: zero, or up to 1 minute. Zero gives every call its own activity. Default: 2 seconds.
     */
    public final B fuse(Duration most) {
        fuse = Optional.of(most);
        return self();
    }
}
