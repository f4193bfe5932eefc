package dev.waymark.cli;

import java.util.Optional;

/** The name under which this program was started, for hints that can be pasted into the same shell. */
public final class CommandName {
    private static final String PROPERTY = "waymark.command";

    private static volatile String serverOption = "";

    private CommandName() {}

    /** Sets the option that selects the server of this command. Hints then repeat the option in their commands. */
    public static void reachServerBy(String option) {
        serverOption = option.isEmpty() ? "" : " " + option;
    }

    /** {@code ./waymark}, {@code waymark}, or another name that the launcher sets. */
    public static String get() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).orElse("waymark");
    }

    /** A command line that can be pasted, such as {@code waymark show trip}, for the server that this command uses. */
    public static String line(String arguments) {
        return get() + " " + arguments + serverOption;
    }

    /** Like {@link #line}, for commands that use no server. */
    public static String lineWithoutServer(String arguments) {
        return get() + " " + arguments;
    }
}
