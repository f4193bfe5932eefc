package dev.waymark.display;

import java.util.Locale;

/**
 * A text, or its beginning with a note that says how much of it is shown.
 *
 * @param isCut whether a part is missing; if so, the excerpt is not enough for a decision
 */
public record Excerpt(String text, boolean isCut) {
    /** At most this many characters of an already safe text. */
    public static Excerpt of(String safeText, int most) {
        return safeText.length() <= most ? new Excerpt(safeText, false) : cut(safeText, most, safeText.length());
    }

    /**
     * At most this many characters of any text, on one line. Only the beginning of a long text is processed, so its note
     * has the length of the text itself, and not of its safe form.
     */
    public static Excerpt line(String text, int most) {
        if (text.length() <= 2 * most) {
            return of(SafeText.line(text), most);
        }
        return cut(SafeText.line(text.substring(0, wholeCharacters(text, 2 * most))), most, text.length());
    }

    /** The end of a beginning that is at most this long and does not end inside a surrogate pair. */
    private static int wholeCharacters(String text, int most) {
        boolean isInPair = most > 0 && most < text.length() && Character.isHighSurrogate(text.charAt(most - 1));
        return isInPair ? most - 1 : most;
    }

    private static Excerpt cut(String safeText, int most, int characters) {
        String beginning = safeText.substring(0, wholeCharacters(safeText, Math.min(most, safeText.length())));
        String note = String.format(Locale.ROOT, "… (cut: %,d of %,d characters)", beginning.length(), characters);
        return new Excerpt(beginning + note, true);
    }
}
