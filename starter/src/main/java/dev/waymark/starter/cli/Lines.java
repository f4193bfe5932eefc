package dev.waymark.starter.cli;

import dev.waymark.starter.client.WaymarkException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How things are said on one line. */
final class Lines {
    private static final int ELLIPSIS_AT = 200;
    private static final Pattern UNSEEN = Pattern.compile("[\\p{Cf}\\p{Zl}\\p{Zp}]");

    private Lines() {}

    /** {@code waymark: WHAT: VALUE. REMEDY}. */
    static String error(String message, String remedy) {
        String line = "waymark: " + oneLine(message);
        if (remedy.isEmpty()) {
            return line;
        }
        boolean ended = !line.isEmpty() && ".!?…".indexOf(line.charAt(line.length() - 1)) >= 0;
        return line + (ended ? " " : ". ") + oneLine(remedy);
    }

    static String error(WaymarkException e) {
        return error(String.valueOf(e.getMessage()), e.remedy());
    }

    /** Without line breaks, and without what a terminal would obey. */
    static String oneLine(String text) {
        return harmless(text.replaceAll("\\s+", " ").trim());
    }

    static String shortened(String text) {
        String line = oneLine(text);
        return line.length() <= ELLIPSIS_AT ? line : line.substring(0, ELLIPSIS_AT) + "…";
    }

    /**
     * JSON that somebody decides on: whole, and without what makes a terminal show it in another order, or not at all.
     * Line breaks in a text around it stay, those within JSON are escaped anyway.
     */
    static String json(String text) {
        return UNSEEN.matcher(text)
                .replaceAll(unseen -> Matcher.quoteReplacement(unseen.group()
                        .chars()
                        .mapToObj(c -> String.format("\\u%04x", c))
                        .collect(Collectors.joining())));
    }

    /** Escape codes in what models and tools say must not reach a terminal. Line breaks and tabs may. */
    static String harmless(String text) {
        return text.replaceAll("[\\p{Cntrl}\u0080-\u009f&&[^\r\n\t]]|\r(?!\n)", "\uFFFD");
    }
}
