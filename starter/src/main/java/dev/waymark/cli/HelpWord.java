package dev.waymark.cli;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Rewrites the command {@code help} to {@code --help}, and formats sections of the help. */
public final class HelpWord {
    private static final String HELP = "help";
    private static final String OPTION = "--help";

    private HelpWord() {}

    /** Turns {@code help} into {@code --help}, and {@code help run} into {@code run --help}. */
    public static String[] replaced(String... args) {
        if (args.length == 0 || !args[0].equals(HELP)) {
            return args;
        }
        String[] command = Arrays.copyOfRange(args, 1, args.length + 1);
        command[args.length - 1] = OPTION;
        return command;
    }

    public static String section(String heading, List<String> lines) {
        return "\n" + heading + ":\n"
                + lines.stream().map(line -> "  " + line + "\n").collect(Collectors.joining());
    }
}
