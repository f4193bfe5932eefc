package dev.waymark.starter.render;

import dev.waymark.cli.CommandError;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.Usage;
import dev.waymark.display.Excerpt;
import dev.waymark.display.SafeText;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats text for one line. */
public final class OneLine {
    private static final int MOST_CHARACTERS = 200;

    private OneLine() {}

    /** Formats an error as {@code waymark: WHAT: VALUE. REMEDY}. */
    public static String error(String message, String remedy) {
        return CommandError.badInput(message, remedy).line();
    }

    public static String error(WaymarkException e) {
        return CommandErrors.of(e).line();
    }

    public static String workers(ThreadEvent.WorkersChanged workers) {
        return workers.absence().map(OneLine::error).orElse("A worker takes the work again.");
    }

    /** Formats a number of things, such as {@code 1 run} or {@code 2 runs}. */
    public static String count(int number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }

    /** Formats the tokens of model calls, with those of the cache and for reasoning if there are any. */
    public static String tokens(Usage usage) {
        String cached =
                parts(part(usage.cacheReadTokens(), "from the cache"), part(usage.cacheWriteTokens(), "written to it"));
        String reasoning = parts(part(usage.reasoningTokens(), "for reasoning"));
        return usage.inputTokens() + " tokens in" + cached + ", " + usage.outputTokens() + " out" + reasoning;
    }

    private static String part(long tokens, String use) {
        return tokens > 0 ? tokens + " " + use : "";
    }

    private static String parts(String... parts) {
        String all = Stream.of(parts).filter(part -> !part.isEmpty()).collect(Collectors.joining(", "));
        return all.isEmpty() ? "" : " (" + all + ")";
    }

    /** Shortens a foreign text to one line of 200 characters. If it is cut, a note says how long it is. */
    public static String shortened(String text) {
        return Excerpt.of(SafeText.line(text), MOST_CHARACTERS).text();
    }

    /** Shortens the arguments of a call to 200 characters. If they are cut, a note says how long they are. */
    public static String shortenedJson(String canonical) {
        return Excerpt.of(SafeText.json(canonical), MOST_CHARACTERS).text();
    }
}
