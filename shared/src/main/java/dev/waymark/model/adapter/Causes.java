package dev.waymark.model.adapter;

import java.util.function.Predicate;
import java.util.stream.Stream;

/** Failures of libraries, with their causes. */
public final class Causes {
    private static final int LONGEST_MESSAGE = 1_000;
    private static final int LONGEST_CHAIN = 20;

    private Causes() {}

    /** The failure and its causes, outermost first. */
    public static Stream<Throwable> of(Throwable thrown) {
        return Stream.iterate(thrown, each -> each != null, each -> each.getCause())
                .limit(LONGEST_CHAIN);
    }

    /** Whether the failure or one of its causes is like this. */
    public static boolean has(Throwable thrown, Predicate<Throwable> kind) {
        return of(thrown).anyMatch(kind);
    }

    /** The first message there is, or else the name of the failure's class; cut if it is long. */
    public static String message(Throwable thrown) {
        return cut(of(thrown)
                .map(Throwable::getMessage)
                .filter(each -> each != null && !each.isBlank())
                .findFirst()
                .orElse(thrown.getClass().getSimpleName()));
    }

    /** The words, or the beginning of long ones. */
    public static String cut(String words) {
        return words.length() <= LONGEST_MESSAGE ? words : words.substring(0, LONGEST_MESSAGE) + " …";
    }
}
