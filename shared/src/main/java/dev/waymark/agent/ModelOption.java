package dev.waymark.agent;

/** An option of a model, under the name that agent files use. Each provider lists the options that it supports. */
public enum ModelOption {
    /** How much work a model puts into a reply. */
    EFFORT("effort"),
    /** How random a reply is. */
    TEMPERATURE("temperature"),
    /** Whether a model thinks before it replies, in the provider's words. */
    THINKING("thinking"),
    /** What is shown of a model's thinking, in the provider's words. */
    THINKING_DISPLAY("thinking_display"),
    /** The maximum number of tokens that a model may think before it replies. */
    THINKING_BUDGET("thinking_budget"),
    /** The class of service, which determines speed and price. */
    SERVICE_TIER("service_tier"),
    /** Whether the first reply to a message has to call a tool. */
    TOOL_CHOICE("tool_choice"),
    /** Whether a reply may call several tools. */
    PARALLEL_CALLS("parallel_calls"),
    /** How long the service keeps the conversation in its cache. */
    CACHE("cache");

    private final String field;

    ModelOption(String field) {
        this.field = field;
    }

    /** The name in agent files. */
    public String field() {
        return field;
    }
}
