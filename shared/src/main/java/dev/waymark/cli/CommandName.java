package dev.waymark.cli;

import java.util.Optional;

/** The name under which this program was started, for hints that can be pasted into the same shell. */
public final class CommandName {
    private static final String PROPERTY = "waymark.command";

    private CommandName() {}

    /** {@code ./waymark}, {@code waymark}, or another name that the launcher sets. */
    public static String get() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).orElse("waymark");
    }

    /** A command line that can be pasted, such as {@code waymark show trip}. */
    public static String line(String arguments) {
        return get() + " " + arguments;
    }
}
