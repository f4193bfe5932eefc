package dev.waymark.client;

/** How values are spelled in what people read. */
public final class ValueText {
    private ValueText() {}

    /** A word as a shell takes it. */
    public static String quoted(String word) {
        boolean plain = !word.isEmpty()
                && word.chars().allMatch(c -> Character.isLetterOrDigit(c) || "-_./:~@%+=,".indexOf(c) >= 0);
        return plain && word.charAt(0) != '~' ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
