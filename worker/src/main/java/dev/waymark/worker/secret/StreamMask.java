package dev.waymark.worker.secret;

import java.util.List;

/**
 * Masks secrets in a text that arrives in pieces, even if a secret is split: a possible beginning is held back until
 * the next piece. Not thread-safe.
 */
public final class StreamMask {
    private final List<SecretValue> values;

    private String held = "";

    /** @param values sorted by length, longest first */
    StreamMask(List<SecretValue> values) {
        this.values = values;
    }

    /** The part of the text that can be released after this piece. */
    public String next(String piece) {
        return tell(held + piece, false);
    }

    /** Called at the end of the input. Returns the text that was held back. */
    public String end() {
        return tell(held, true);
    }

    private String tell(String text, boolean over) {
        held = "";
        if (values.isEmpty()) {
            return text;
        }
        StringBuilder told = new StringBuilder(text.length());
        int at = 0;
        while (at < text.length()) {
            int length = 0;
            String name = "";
            for (SecretValue value : values) {
                int found = value.lengthAt(text, at);
                if (found == SecretValue.UNDECIDED && !over) {
                    held = text.substring(at);
                    return told.toString();
                }
                if (found > length) {
                    length = found;
                    name = value.name();
                }
            }
            if (length > 0) {
                told.append(name);
                at += length;
            } else {
                told.append(text.charAt(at++));
            }
        }
        return told.toString();
    }
}
