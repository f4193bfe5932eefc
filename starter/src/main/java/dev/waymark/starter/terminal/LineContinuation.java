package dev.waymark.starter.terminal;

/** A backslash at the end of a line: more follows. */
final class LineContinuation {
    private LineContinuation() {}

    /** Two backslashes are a backslash. */
    static boolean isAsked(String line) {
        int last = line.length();
        while (last > 0 && line.charAt(last - 1) == '\\') {
            last--;
        }
        return (line.length() - last) % 2 == 1;
    }
}
