package dev.waymark.agent;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Options of a model. The provider decides about options that are not set. Histories contain the options, so fields are
 * only ever added.
 *
 * <pre>{@code
 * ModelOptions options = ModelOptions.NONE.withEffort("high").withServiceTier("flex");
 * }</pre>
 *
 * @param effort how much work the model puts into a reply, in the provider's words, such as {@code high}
 * @param temperature how random the reply is; 0 is the least random
 * @param thinkingBudget the maximum number of tokens that the model may think before it replies
 * @param serviceTier the class of service, in the provider's words
 * @param thinking whether the model thinks before it replies, in the provider's words, such as {@code adaptive}
 * @param thinkingDisplay what is shown of the thinking, in the provider's words: {@code summarized} or {@code omitted}
 * @param toolChoice whether the first reply to a message has to call a tool: {@code auto}, {@code required}, {@code
 *     none}, or the name of the tool
 * @param parallelCalls whether a reply may call several tools
 * @param cache how long the service keeps the conversation in its cache: {@code 5m} or {@code 1h}
 */
public record ModelOptions(
        Optional<String> effort,
        Optional<Double> temperature,
        Optional<Integer> thinkingBudget,
        Optional<String> serviceTier,
        Optional<String> thinking,
        Optional<String> thinkingDisplay,
        Optional<String> toolChoice,
        Optional<Boolean> parallelCalls,
        Optional<String> cache) {
    /** The service keeps the conversation in its cache for five minutes after each request. */
    public static final String CACHE_FIVE_MINUTES = "5m";
    /** The service keeps the conversation in its cache for an hour after each request. */
    public static final String CACHE_AN_HOUR = "1h";

    /** A summary of the thinking is shown. */
    public static final String THINKING_SUMMARIZED = "summarized";
    /** The thinking is not shown. */
    public static final String THINKING_OMITTED = "omitted";

    /** No option is set, so the provider decides about all of them. */
    public static final ModelOptions NONE = new ModelOptions(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    /** A copy with this effort. */
    public ModelOptions withEffort(String word) {
        return with(edit -> edit.effort = Optional.of(word));
    }

    /** A copy with this temperature. */
    public ModelOptions withTemperature(double degree) {
        return with(edit -> edit.temperature = Optional.of(degree));
    }

    /** A copy that sets whether the model thinks. */
    public ModelOptions withThinking(String word) {
        return with(edit -> edit.thinking = Optional.of(word));
    }

    /** A copy that sets what is shown of the thinking: {@code summarized} or {@code omitted}. */
    public ModelOptions withThinkingDisplay(String word) {
        return with(edit -> edit.thinkingDisplay = Optional.of(word));
    }

    /** A copy with this limit on thinking. */
    public ModelOptions withThinkingBudget(int tokens) {
        return with(edit -> edit.thinkingBudget = Optional.of(tokens));
    }

    /** A copy with this class of service. */
    public ModelOptions withServiceTier(String word) {
        return with(edit -> edit.serviceTier = Optional.of(word));
    }

    /**
     * A copy that demands or forbids calls: {@code auto}, {@code required}, {@code none}, or the name of a tool. A call is
     * demanded only in the first reply to a message.
     */
    public ModelOptions withToolChoice(String word) {
        return with(edit -> edit.toolChoice = Optional.of(word));
    }

    /** A copy that sets whether a reply may call several tools. */
    public ModelOptions withParallelCalls(boolean several) {
        return with(edit -> edit.parallelCalls = Optional.of(several));
    }

    /** A copy that sets how long the service keeps the conversation in its cache: {@code 5m} or {@code 1h}. */
    public ModelOptions withCache(String time) {
        return with(edit -> edit.cache = Optional.of(time));
    }

    private ModelOptions with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private Optional<String> effort = ModelOptions.this.effort;
        private Optional<Double> temperature = ModelOptions.this.temperature;
        private Optional<Integer> thinkingBudget = ModelOptions.this.thinkingBudget;
        private Optional<String> serviceTier = ModelOptions.this.serviceTier;
        private Optional<String> thinking = ModelOptions.this.thinking;
        private Optional<String> thinkingDisplay = ModelOptions.this.thinkingDisplay;
        private Optional<String> toolChoice = ModelOptions.this.toolChoice;
        private Optional<Boolean> parallelCalls = ModelOptions.this.parallelCalls;
        private Optional<String> cache = ModelOptions.this.cache;

        private ModelOptions done() {
            return new ModelOptions(
                    effort,
                    temperature,
                    thinkingBudget,
                    serviceTier,
                    thinking,
                    thinkingDisplay,
                    toolChoice,
                    parallelCalls,
                    cache);
        }
    }

    /** The values that are set, in a fixed order. */
    public Map<ModelOption, Object> values() {
        Map<ModelOption, Object> values = new EnumMap<>(ModelOption.class);
        effort.ifPresent(value -> values.put(ModelOption.EFFORT, value));
        temperature.ifPresent(value -> values.put(ModelOption.TEMPERATURE, value));
        thinking.ifPresent(value -> values.put(ModelOption.THINKING, value));
        thinkingDisplay.ifPresent(value -> values.put(ModelOption.THINKING_DISPLAY, value));
        thinkingBudget.ifPresent(value -> values.put(ModelOption.THINKING_BUDGET, value));
        serviceTier.ifPresent(value -> values.put(ModelOption.SERVICE_TIER, value));
        toolChoice.ifPresent(value -> values.put(ModelOption.TOOL_CHOICE, value));
        parallelCalls.ifPresent(value -> values.put(ModelOption.PARALLEL_CALLS, value));
        cache.ifPresent(value -> values.put(ModelOption.CACHE, value));
        return Collections.unmodifiableMap(values);
    }
}
