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

    /** At most this many characters of any text, on one line. Only the beginning of a long text is processed. */
    public static Excerpt line(String text, int most) {
        if (text.length() <= 2 * most) {
            return of(SafeText.line(text), most);
        }
        return cut(SafeText.line(text.substring(0, 2 * most)), most, text.length());
    }

    private static Excerpt cut(String safeText, int most, int characters) {
        int end = Math.min(most, safeText.length());
        boolean isInPair = end > 0 && Character.isHighSurrogate(safeText.charAt(end - 1));
        String beginning = safeText.substring(0, isInPair ? end - 1 : end);
        String note = String.format(Locale.ROOT, "… (cut: %,d of %,d characters)", beginning.length(), characters);
        return new Excerpt(beginning + note, true);
    }
}
