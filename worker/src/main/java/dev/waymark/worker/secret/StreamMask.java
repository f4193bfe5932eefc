package dev.waymark.worker.secret;

import dev.waymark.worker.secret.Secrets.Spelling;
import java.util.List;
import java.util.Optional;

/**
 * Takes secrets out of a text that comes in pieces, wherever it is cut: what may be the beginning of one is held back
 * until more is known. For one thread.
 */
public final class StreamMask {
    /** The longest first. */
    private final List<Spelling> spellings;

    private String held = "";

    StreamMask(List<Spelling> spellings) {
        this.spellings = spellings;
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
        if (spellings.isEmpty()) {
            return text;
        }
        StringBuilder told = new StringBuilder(text.length());
        int at = 0;
        while (at < text.length()) {
            if (!over && mayGoOn(text, at)) {
                held = text.substring(at);
                break;
            }
            Optional<Spelling> secret = secretAt(text, at);
            if (secret.isPresent()) {
                told.append(secret.get().name());
                at += secret.get().text().length();
            } else {
                told.append(text.charAt(at++));
            }
        }
        return told.toString();
    }

    /** Whether the text from here on is the beginning of a secret, and not all of it. */
    private boolean mayGoOn(String text, int from) {
        int length = text.length() - from;
        for (Spelling spelling : spellings) {
            if (spelling.text().length() > length && spelling.text().regionMatches(0, text, from, length)) {
                return true;
            }
        }
        return false;
    }

    private Optional<Spelling> secretAt(String text, int from) {
        for (Spelling spelling : spellings) {
            if (text.startsWith(spelling.text(), from)) {
                return Optional.of(spelling);
            }
        }
        return Optional.empty();
    }
}
