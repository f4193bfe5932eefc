package dev.waymark.starter.render;

import dev.waymark.client.WaymarkException;

/** How things are said on one line. */
public final class OneLine {
    private static final int ELLIPSIS_AT = 200;

    private OneLine() {}

    /** {@code waymark: WHAT: VALUE. REMEDY}. */
    public static String error(String message, String remedy) {
        String line = "waymark: " + oneLine(message);
        if (remedy.isEmpty()) {
            return line;
        }
        boolean ended = !line.isEmpty() && ".!?…".indexOf(line.charAt(line.length() - 1)) >= 0;
        return line + (ended ? " " : ". ") + oneLine(remedy);
    }

    public static String error(WaymarkException e) {
        return error(String.valueOf(e.getMessage()), e.remedy());
    }

    /** Without line breaks, and without what a terminal would obey. */
    public static String oneLine(String text) {
        return harmless(text.replaceAll("\\s+", " ").trim());
    }

    /** {@code 1 run}, {@code 2 runs}. */
    public static String count(int number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }

    public static String shortened(String text) {
        String line = oneLine(text);
        return line.length() <= ELLIPSIS_AT ? line : line.substring(0, ELLIPSIS_AT) + "…";
    }

    /** Escape codes in what models and tools say must not reach a terminal. Line breaks and tabs may. */
    public static String harmless(String text) {
        return text.replaceAll("[\\p{Cntrl}\u0080-\u009f&&[^\r\n\t]]|\r(?!\n)", "\uFFFD");
    }
}
