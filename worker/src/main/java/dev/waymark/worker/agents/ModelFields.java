package dev.waymark.worker.agents;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.display.Suggestion;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads {@code model} of an agent file and its {@code options}. */
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

    /** All problems of the options, each at its own line. */
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
            case TEMPERATURE -> before.withTemperature(temperature(value));
            case THINKING_BUDGET -> before.withThinkingBudget(value.integer(1));
            case SERVICE_TIER -> before.withServiceTier(value.text());
        };
    }

    private static double temperature(YamlValue value) throws YamlProblem {
        BigDecimal degree = value.number();
        return degree.doubleValue();
    }
}
