package dev.waymark.worker.agents;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.contract.PayloadJson;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.table.ModelTable;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads {@code model}, {@code options}, {@code silence} and {@code fallback} of an agent file. */
final class ModelFields {
    private static final JsonMapper OPTIONS = PayloadJson.MAPPER
            .rebuild()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

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

    ModelOptions options(YamlValue value, String model, int maxTokens) throws YamlProblem {
        Map<String, YamlValue> fields = value.fields().takeAll();
        ModelOptions options = OPTIONS.convertValue(value.entries((name, option) -> option.json()), ModelOptions.class);
        checks.optionProblems(model, options, maxTokens)
                .forEach((option, words) -> value.problems()
                        .add(Optional.ofNullable(fields.get(option.field()))
                                .orElse(value)
                                .problem(words)));
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
        List<FallbackModel> all = new ArrayList<>();
        Set<String> names = new HashSet<>(Set.of(checks.oneName(first)));
        for (YamlValue item : list.items()) {
            item.read(each -> fallback(each, maxTokens)).ifPresent(other -> {
                if (!names.add(checks.oneName(other.model()))) {
                    item.problems().add(item.problem("duplicate model: " + other.model()));
                }
                all.add(other);
            });
        }
        return all;
    }

    private FallbackModel fallback(YamlValue item, int maxTokens) throws YamlProblem {
        if (!item.isMapping()) {
            return FallbackModel.of(model(item));
        }
        YamlFields fields = item.fields();
        Optional<Pricing> pricing = fields.read("pricing", ModelTable::pricing);
        Optional<Duration> silence = fields.read("silence", ModelFields::silence);
        String model = fields.require("model", this::model);
        return new FallbackModel(
                model, fields.read("options", value -> options(value, model, maxTokens)), pricing, silence);
    }
}
