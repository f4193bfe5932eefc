package dev.waymark.starter;

import java.io.PrintWriter;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/**
 * Prints the commands for shell completion, one per line: name, description and options, separated by tabs.
 */
@Command(name = "describe", hidden = true)
final class DescribeCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        for (CommandLine each : spec.root().subcommands().values()) {
            CommandSpec command = each.getCommandSpec();
            if (!command.usageMessage().hidden()) {
                out.println(String.join("\t", command.name(), description(command), options(command)));
            }
        }
        out.flush();
    }

    private static String description(CommandSpec command) {
        String[] paragraphs = command.usageMessage().description();
        return paragraphs.length == 0 ? "" : String.format(paragraphs[0]).split("\\. |\\.$")[0] + ".";
    }

    private static String options(CommandSpec command) {
        return command.options().stream()
                .filter(option -> !option.hidden())
                .map(OptionSpec::longestName)
                .sorted()
                .collect(Collectors.joining(" "));
    }
}
