package dev.waymark.model.adapter;

import java.util.function.Predicate;
import java.util.stream.Stream;

/** Searches failures of libraries and their causes. */
public final class Causes {
    private static final int LONGEST_MESSAGE = 1_000;
    private static final int LONGEST_CHAIN = 20;

    private Causes() {}

    /** The failure and its causes, outermost first, 20 at most. */
    public static Stream<Throwable> of(Throwable thrown) {
        return Stream.iterate(thrown, each -> each != null, each -> each.getCause())
                .limit(LONGEST_CHAIN);
    }

    /** Whether the failure or one of its causes matches. */
    public static boolean has(Throwable thrown, Predicate<Throwable> kind) {
        return of(thrown).anyMatch(kind);
    }

    /** The first message in the chain of causes, or else the failure's class name. A long message is cut. */
    public static String message(Throwable thrown) {
        return cut(of(thrown)
                .map(Throwable::getMessage)
                .filter(each -> each != null && !each.isBlank())
                .findFirst()
                .orElse(thrown.getClass().getSimpleName()));
    }

    /** The text, cut after 1,000 characters. */
    public static String cut(String words) {
        return words.length() <= LONGEST_MESSAGE ? words : words.substring(0, LONGEST_MESSAGE) + " …";
    }
}
