package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.display.Suggestion;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.table.ModelTable;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads {@code model}, {@code options}, {@code silence} and {@code fallback} of an agent file. */
final class ModelFields {
    private static final List<String> OPTIONS =
            Arrays.stream(ModelOption.values()).map(ModelOption::field).toList();

    private final ModelChecks checks;

    ModelFields(ModelChecks checks) {
        this.checks = checks;
    }

    String model(YamlValue value) throws YamlProblem {
        String model = value.text();
        Optional<String> problem = checks.modelProblem(model);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return model;
    }

    /** Reads the options, and reports all their problems, each with its line. */
    ModelOptions options(YamlValue value, String model, int maxTokens) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Map<String, YamlValue> fields = new LinkedHashMap<>(value.fields().takeAll());
        ModelOptions options = ModelOptions.NONE;
        for (Map.Entry<String, YamlValue> field : fields.entrySet()) {
            ModelOptions before = options;
            options = problems.check(() -> with(before, field.getKey(), field.getValue(), model))
                    .orElse(before);
        }
        checks.optionProblems(model, options, maxTokens)
                .forEach((option, words) -> problems.add(Optional.ofNullable(fields.get(option.field()))
                        .orElse(value)
                        .problem(words)));
        problems.end();
        return options;
    }

    /** Reads the maximum time without any part of a reply. */
    static Duration silence(YamlValue value) throws YamlProblem {
        Duration silence = value.duration();
        Optional<String> problem = ModelChecks.silenceProblem(silence);
        if (problem.isPresent()) {
            throw value.problem(problem.get() + ", found " + value.text());
        }
        return silence;
    }

    /** Reads the fallback models, each of which is used while the models before it are out of service. */
    List<FallbackModel> fallback(YamlValue list, String first, int maxTokens) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        List<FallbackModel> all = new ArrayList<>();
        Set<String> names = new HashSet<>(Set.of(checks.oneName(first)));
        for (YamlValue item : list.items()) {
            problems.check(() -> fallback(item, maxTokens)).ifPresent(other -> {
                if (!names.add(checks.oneName(other.model()))) {
                    problems.add(item.problem("duplicate model: " + other.model()));
                }
                all.add(other);
            });
        }
        if (all.size() > AgentSpec.MOST_FALLBACKS) {
            problems.add(list.problem("too many models: " + all.size() + ", at most " + AgentSpec.MOST_FALLBACKS));
        }
        problems.end();
        return all;
    }

    private FallbackModel fallback(YamlValue item, int maxTokens) throws YamlProblem {
        if (!item.isMapping()) {
            return FallbackModel.of(model(item));
        }
        YamlFields fields = item.fields();
        YamlProblems problems = new YamlProblems();
        Optional<FallbackModel> other = problems.check(() -> FallbackModel.of(model(fields.require("model"))));
        Optional<YamlValue> options = fields.take("options");
        Optional<Pricing> pricing = problems.read(fields.take("pricing"), ModelTable::pricing);
        Optional<Duration> silence = problems.read(fields.take("silence"), ModelFields::silence);
        problems.run(fields::end);
        other = other.map(model -> problems.read(options, value -> options(value, model.model(), maxTokens))
                .map(model::with)
                .orElse(model));
        problems.end();
        FallbackModel model = other.orElseThrow();
        FallbackModel patient = silence.map(model::withSilence).orElse(model);
        return pricing.map(patient::with).orElse(patient);
    }

    private ModelOptions with(ModelOptions before, String name, YamlValue value, String model) throws YamlProblem {
        Optional<ModelOption> option = Arrays.stream(ModelOption.values())
                .filter(each -> each.field().equals(name))
                .findFirst();
        if (option.isEmpty()) {
            String meant = Suggestion.question(name, OPTIONS);
            throw value.problem("unknown option. " + (meant.isEmpty() ? "" : meant + " ") + checks.knownOptions(model));
        }
        return switch (option.get()) {
            case EFFORT -> before.withEffort(value.text());
            case TEMPERATURE -> before.withTemperature(value.number().doubleValue());
            case THINKING -> before.withThinking(value.text());
            case THINKING_DISPLAY -> before.withThinkingDisplay(value.text());
            case THINKING_BUDGET -> before.withThinkingBudget(value.integer(1));
            case SERVICE_TIER -> before.withServiceTier(value.text());
            case TOOL_CHOICE -> before.withToolChoice(value.text());
            case PARALLEL_CALLS -> before.withParallelCalls(value.flag());
            case CACHE -> before.withCache(value.text());
        };
    }
}
