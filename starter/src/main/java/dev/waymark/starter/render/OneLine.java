package dev.waymark.starter.render;

import dev.waymark.cli.CommandError;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.display.Excerpt;
import dev.waymark.display.SafeText;

/** Formats text for one line. */
public final class OneLine {
    private static final int MOST_CHARACTERS = 200;

    private OneLine() {}

    /** {@code waymark: WHAT: VALUE. REMEDY}. */
    public static String error(String message, String remedy) {
        return CommandError.badInput(message, remedy).line();
    }

    public static String error(WaymarkException e) {
        return CommandErrors.of(e).line();
    }

    /** {@code 1 run}, {@code 2 runs}. */
    public static String count(int number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }

    /** The beginning of a text that someone else wrote. */
    public static String shortened(String text) {
        return Excerpt.of(SafeText.line(text), MOST_CHARACTERS).text();
    }

    /** The beginning of a call's arguments. */
    public static String shortenedJson(String canonical) {
        return Excerpt.of(SafeText.json(canonical), MOST_CHARACTERS).text();
    }
}
