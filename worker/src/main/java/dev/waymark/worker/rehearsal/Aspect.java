package dev.waymark.worker.rehearsal;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** In what a decision differs from the recorded one. The names are in reports. */
public enum Aspect {
    /** Other tools are called, more or fewer, or none. */
    CALLS("other calls"),
    /** The same tools are called with other arguments. */
    ARGUMENTS("other arguments"),
    /** The same calls come in another order, and at least one of them has side effects. */
    ORDER("another order of calls"),
    /** The text of a reply without calls says something else. */
    TEXT("other text"),
    /** The requested JSON is another one, or does not match its schema. */
    STRUCTURED("other JSON"),
    /** The reply ended for another reason, for example because it was cut. */
    FINISH("another end"),
    /** Arguments do not match the schema of their tool, or the agent has no such tool. */
    REFUSED("a call that is refused"),
    /** The rules of the agent decide otherwise about a call. */
    RULES("another decision of the rules");

    private final String words;

    Aspect(String words) {
        this.words = words;
    }

    /** The aspect for people. */
    public String words() {
        return words;
    }

    @JsonValue
    String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
