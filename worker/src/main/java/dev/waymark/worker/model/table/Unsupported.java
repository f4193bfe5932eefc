package dev.waymark.worker.model.table;

import java.util.Locale;

/** A feature that a model refuses, or answers with an error. */
public enum Unsupported {
    /** A {@code tool_choice} that demands a call. */
    FORCED_TOOLS,
    DISABLED_THINKING,
    THINKING_BUDGET,
    /** {@code temperature}. */
    SAMPLING,
    /** A reply in the conversation that ends with thinking. */
    TRAILING_THINKING,
    /** In chat completions, tools together with an effort. */
    CHAT_TOOLS_WITH_EFFORT,
    /** In chat completions, tools without {@code effort: none}. */
    CHAT_TOOLS;

    /** The name in the table. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
