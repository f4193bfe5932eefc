package dev.waymark.cli;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** The word {@code help}, and sections of indented lines. */
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

    /** Adds examples to the help of a command: lines without the name of the program. */
    public static void addExamples(CommandSpec command, List<String> examples) {
        if (!examples.isEmpty()) {
            List<String> lines = examples.stream().map(CommandName::line).toList();
            command.usageMessage()
                    .footer(section("Examples", lines).replace("%", "%%").split("\n"));
        }
    }

    public static String section(String heading, List<String> lines) {
        return "\n" + heading + ":\n"
                + lines.stream().map(line -> "  " + line + "\n").collect(Collectors.joining());
    }
}
