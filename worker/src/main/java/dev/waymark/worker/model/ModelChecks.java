package dev.waymark.worker.model;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.value.Budget;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import dev.waymark.worker.model.table.KnownModel;
import dev.waymark.worker.model.table.Unsupported;
import dev.waymark.worker.provider.ModelProviders;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Checks the model settings of an agent before any model is called. */
public final class ModelChecks {
    private final ModelProviders providers;

    public ModelChecks(ModelProviders providers) {
        this.providers = providers;
    }

    /** The reason why this {@code provider:model} cannot be used, if there is one. */
    public Optional<String> modelProblem(String model) {
        Optional<ModelProviders.Bound> bound = providers.find(model);
        if (bound.isEmpty()) {
            return Optional.of("expected PROVIDER:MODEL with one of the providers "
                    + String.join(", ", providers.names()) + ", found " + model);
        }
        try {
            bound.get().provider().check(bound.get().model());
            return Optional.empty();
        } catch (ModelFailure e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** The one name of a model that has several. */
    public String oneName(String model) {
        return providers.oneName(model);
    }

    /** The problems with options for this model, by option, in a fixed order. */
    public Map<ModelOption, String> optionProblems(String model, ModelOptions options, int maxTokens) {
        Map<ModelOption, String> problems = new EnumMap<>(ModelOption.class);
        providers.find(model).ifPresent(bound -> {
            Set<ModelOption> known = bound.provider().knownOptions();
            refusals(bound.known(), options)
                    .forEach((option, words) -> problems.put(option, bound.model() + " refuses " + words));
            problems.putAll(bound.provider().optionProblems(options, maxTokens));
            options.values().keySet().stream()
                    .filter(option -> !known.contains(option))
                    .forEach(option -> problems.put(option, "unknown option. " + knownOptions(model)));
        });
        return problems;
    }

    /** The options that a model is known to refuse. */
    private static Map<ModelOption, String> refusals(KnownModel known, ModelOptions options) {
        Map<ModelOption, String> refused = new EnumMap<>(ModelOption.class);
        if (known.refuses(Unsupported.FORCED_TOOLS)) {
            options.toolChoice()
                    .map(ToolChoice::new)
                    .filter(ToolChoice::demandsCall)
                    .ifPresent(choice -> refused.put(ModelOption.TOOL_CHOICE, "a demand for a call"));
        }
        if (known.refuses(Unsupported.DISABLED_THINKING)) {
            options.thinking()
                    .filter("disabled"::equals)
                    .ifPresent(word -> refused.put(ModelOption.THINKING, "thinking: disabled"));
        }
        if (known.refuses(Unsupported.THINKING_BUDGET)) {
            options.thinkingBudget().ifPresent(budget -> refused.put(ModelOption.THINKING_BUDGET, "a budget"));
        }
        if (known.refuses(Unsupported.SAMPLING)) {
            options.temperature().ifPresent(degree -> refused.put(ModelOption.TEMPERATURE, "a temperature"));
        }
        return refused;
    }

    /** How long a reply of this model may be by default. */
    public int maxTokens(String model) {
        return providers.find(model).flatMap(bound -> bound.known().maxTokens()).orElse(AgentSpec.DEFAULT_MAX_TOKENS);
    }

    /** The number of tokens that this model can read, if it is known. */
    public Optional<Integer> contextWindow(String model) {
        return providers.find(model).flatMap(bound -> bound.known().context());
    }

    /** Returns a problem unless the silence limit is between 1 second and 9 minutes. */
    public static Optional<String> silenceProblem(Duration silence) {
        return silence.compareTo(AgentSpec.LEAST_SILENCE) < 0 || silence.compareTo(AgentSpec.MOST_SILENCE) > 0
                ? Optional.of("expected 1s to 9m")
                : Optional.empty();
    }

    /** Returns a problem unless a model call is retried for at most a day. */
    public static Optional<String> retryForProblem(Duration limit) {
        return limit.isNegative() || limit.compareTo(AgentSpec.MOST_RETRY_FOR) > 0
                ? Optional.of("expected 0 to 24h")
                : Optional.empty();
    }

    /** Returns a problem unless calls may run in the model's activity for at most a minute; zero allows none. */
    public static Optional<String> fuseProblem(Duration limit) {
        return limit.isNegative() || limit.compareTo(AgentSpec.MOST_FUSE) > 0
                ? Optional.of("expected 0 to 1m")
                : Optional.empty();
    }

    /** The options that the provider of this model supports, as a sentence. */
    public String knownOptions(String model) {
        String provider = model.substring(0, Math.max(0, model.indexOf(':')));
        String known = providers.find(model).stream()
                .flatMap(bound -> bound.provider().knownOptions().stream())
                .sorted()
                .map(ModelOption::field)
                .collect(Collectors.joining(", "));
        return known.isEmpty() ? "Models of " + provider + " have no options" : provider + " knows " + known;
    }

    /** The agent's models that have no known price, including fallbacks. */
    public List<String> withoutPrice(AgentSpec agent) {
        return ModelChain.links(agent).stream()
                .filter(link -> link.ownPrice().isEmpty())
                .map(ModelChain.Link::model)
                .filter(model -> providers
                        .find(model)
                        .flatMap(ModelProviders.Bound::pricing)
                        .isEmpty())
                .toList();
    }

    /** Returns a problem if a model of the agent has to call a tool that the agent does not have. */
    public static Optional<String> toolChoiceProblem(AgentSpec agent) {
        return ModelChain.links(agent).stream()
                .flatMap(link -> link.options().toolChoice().stream())
                .filter(choice -> !ToolChoice.isWord(choice)
                        && agent.tools().stream().noneMatch(tool -> tool.name().equals(choice)))
                .findFirst()
                .map(choice -> "expected auto, required, none or the name of a tool of the agent, found " + choice);
    }

    /** Returns what to change about models of the agent that are known to refuse its tools in chat completions. */
    public List<String> refusingTools(AgentSpec agent) {
        return agent.tools().isEmpty()
                ? List.of()
                : ModelChain.links(agent).stream()
                        .flatMap(link -> providers.find(link.model()).stream()
                                .filter(bound -> bound.provider() instanceof OpenAiProvider)
                                .filter(bound -> refusesTools(
                                        bound.known(), link.options().effort()))
                                .map(bound -> link.model() + " refuses tools with reasoning in chat completions. Write"
                                        + " model: " + ResponsesProvider.NAME + ":" + bound.model()
                                        + ", or options: { effort: none }"))
                        .toList();
    }

    private static boolean refusesTools(KnownModel known, Optional<String> effort) {
        return effort.map(word -> !word.equals("none")
                        && (known.refuses(Unsupported.CHAT_TOOLS_WITH_EFFORT) || known.refuses(Unsupported.CHAT_TOOLS)))
                .orElseGet(() -> known.refuses(Unsupported.CHAT_TOOLS));
    }

    /** The first problem with the model settings of an agent that is defined in Java, if there is one. */
    public Optional<String> problem(AgentSpec agent) {
        Set<String> seen = new HashSet<>();
        for (ModelChain.Link link : ModelChain.links(agent)) {
            Optional<String> problem = seen.add(providers.oneName(link.model()))
                    ? modelProblem(link.model())
                            .or(() -> first(optionProblems(link.model(), link.options(), agent.maxTokens())))
                    : Optional.of("it has the model " + link.model() + " twice");
            if (problem.isPresent()) {
                return problem;
            }
        }
        Optional<String> choice = toolChoiceProblem(agent);
        if (choice.isPresent()) {
            return choice.map(words -> "options.tool_choice: " + words);
        }
        boolean inDollars = agent.budget().flatMap(Budget::usd).isPresent();
        return withoutPrice(agent).stream()
                .filter(model -> inDollars)
                .map(model -> "no price is known for " + model + ", which the budget in dollars needs. Set pricing")
                .findFirst();
    }

    private static Optional<String> first(Map<ModelOption, String> problems) {
        return problems.entrySet().stream()
                .findFirst()
                .map(problem -> "options." + problem.getKey().field() + ": " + problem.getValue());
    }
}
