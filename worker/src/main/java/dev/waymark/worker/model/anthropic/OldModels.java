package dev.waymark.worker.model.anthropic;

import java.util.regex.Pattern;

/** What older models do not accept. As of 2026-11-28, from the service's pages on extended thinking. */
final class OldModels {
    private static final Pattern REFUSE_THINKING_AT_THE_END =
            Pattern.compile("(.*[./])?claude-(3.*|(opus|sonnet|haiku)-4.*)");

    private OldModels() {}

    /** Whether the model rejects a reply in the conversation that ends with thinking. */
    static boolean refuseThinkingAtTheEnd(String model) {
        return REFUSE_THINKING_AT_THE_END.matcher(model).matches();
    }
}
