package dev.waymark.starter.terminal;

/** Detects a line that ends with a backslash and so continues on the next line. */
final class LineContinuation {
    private LineContinuation() {}

    /** Whether the line ends with a backslash that is not escaped. */
    static boolean isAsked(String line) {
        int last = line.length();
        while (last > 0 && line.charAt(last - 1) == '\\') {
            last--;
        }
        return (line.length() - last) % 2 == 1;
    }
}
