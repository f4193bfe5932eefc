package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** An aspect in which a reply differs from the recorded one. Reports contain the names. */
public enum Aspect {
    /** The reply calls more, fewer or other tools, or none. */
    CALLS,
    /** The same tools are called with other arguments. */
    ARGUMENTS,
    /** The same calls come in another order, and at least one of them has side effects. */
    ORDER,
    /** The text of a reply without calls says something else. */
    TEXT,
    /** The requested JSON differs, or does not match its schema. */
    STRUCTURED,
    /** The reply ended for another reason, for example because it was cut. */
    FINISH,
    /** Arguments do not match the schema of their tool, or the agent has no such tool. */
    REFUSED,
    /** The rules of the agent decide differently about a call. */
    RULES;

    @JsonValue
    String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
