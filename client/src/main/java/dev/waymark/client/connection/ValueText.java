package dev.waymark.client.connection;

/** Formats values for commands that people can paste into a shell. */
public final class ValueText {
    private ValueText() {}

    public static String quoted(String word) {
        boolean plain = !word.isEmpty()
                && word.chars().allMatch(c -> Character.isLetterOrDigit(c) || "-_./:~@%+=,".indexOf(c) >= 0);
        return plain && word.charAt(0) != '~' ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
