package dev.waymark.worker.model.http;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Collects the problems with the options of a model. */
public final class OptionProblems {
    private final Map<ModelOption, Object> values;
    private final Map<ModelOption, String> problems = new EnumMap<>(ModelOption.class);

    public OptionProblems(ModelOptions options) {
        this.values = options.values();
    }

    /** Rejects an option, if it is set. */
    public void refuse(ModelOption option, String words) {
        if (has(option)) {
            problems.putIfAbsent(option, words);
        }
    }

    /** Rejects an option that is set to a value other than these words. */
    public void oneOf(ModelOption option, List<String> words) {
        if (has(option) && !words.contains(values.get(option))) {
            refuse(option, "expected one of " + String.join(", ", words) + ", found " + values.get(option));
        }
    }

    /** Rejects unknown values for the display of thinking. */
    public void thinkingDisplay() {
        oneOf(ModelOption.THINKING_DISPLAY, List.of(ModelOptions.THINKING_SUMMARIZED, ModelOptions.THINKING_OMITTED));
    }

    /** Rejects temperatures that are not between 0 and {@code most}. */
    public void temperatureUpTo(int most) {
        if (values.get(ModelOption.TEMPERATURE) instanceof Double degree && !(degree >= 0 && degree <= most)) {
            refuse(ModelOption.TEMPERATURE, "expected 0 to " + most + ", found " + degree);
        }
    }

    private boolean has(ModelOption option) {
        return values.containsKey(option);
    }

    public Map<ModelOption, String> all() {
        return problems;
    }
}
