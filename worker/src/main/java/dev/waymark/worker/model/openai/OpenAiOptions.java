package dev.waymark.worker.model.openai;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.worker.model.http.OptionProblems;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The options of OpenAI's models. Which model accepts which of them, only the service knows. */
final class OpenAiOptions {
    static final Set<ModelOption> KNOWN =
            Set.copyOf(EnumSet.of(ModelOption.EFFORT, ModelOption.TEMPERATURE, ModelOption.SERVICE_TIER));

    private static final List<String> EFFORTS = List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final List<String> SERVICE_TIERS = List.of("auto", "default", "flex", "scale", "priority", "fast");
    private static final int HIGHEST_TEMPERATURE = 2;

    private OpenAiOptions() {}

    static Map<ModelOption, String> problems(ModelOptions options) {
        OptionProblems problems = new OptionProblems(options);
        problems.oneOf(ModelOption.EFFORT, EFFORTS);
        problems.oneOf(ModelOption.SERVICE_TIER, SERVICE_TIERS);
        problems.temperatureUpTo(HIGHEST_TEMPERATURE);
        return problems.all();
    }
}
