package dev.waymark.conversation.value;

import java.util.Locale;
import java.util.Optional;

/** How a person responds to the form of a tool's server. The names are those of MCP. */
public enum FormAction {
    /** The form is filled in, or its page was visited. */
    ACCEPT,
    /** The person will not fill it in. */
    DECLINE,
    /** The person closed it without a decision. */
    CANCEL;

    /** The name in MCP. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The action with this name in MCP. */
    public static Optional<FormAction> named(String name) {
        for (FormAction action : values()) {
            if (action.wireName().equals(name)) {
                return Optional.of(action);
            }
        }
        return Optional.empty();
    }
}
