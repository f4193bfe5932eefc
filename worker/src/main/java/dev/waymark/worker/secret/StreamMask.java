package dev.waymark.worker.secret;

import java.util.List;

/**
 * Takes secrets out of a text that comes in pieces, wherever it is cut: what may be the beginning of one is held back
 * until more is known. For one thread.
 */
public final class StreamMask {
    private final List<SecretValue> values;

    private String held = "";

    /** @param values the longest first */
    StreamMask(List<SecretValue> values) {
        this.values = values;
    }

    /** What can be told of the text now that this piece has come. */
    public String next(String piece) {
        return tell(held + piece, false);
    }

    /** What was held back, once no more comes. */
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
