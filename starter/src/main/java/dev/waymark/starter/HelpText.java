package dev.waymark.starter;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.HelpEntry;
import dev.waymark.cli.HelpWord;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The help of the whole command line: commands by purpose, examples, exit codes, settings. */
final class HelpText {
    private static final List<String> EXIT_CODES = List.of(
            "0  done, or the turn waits for a person",
            "1  the turn failed, was stopped or cancelled, or reached a limit; verify or gate found a problem",
            "2  bad usage or input",
            "3  no such thread, version, call, agent or file; nothing open to answer; the thread is closed",
            "4  the turn waits for a person, with --assert-complete",
            "5  the Temporal server, or the storage of thread keys, cannot be reached",
            "6  timed out (the turn continues), or there is no worker",
            "7  the saver failed, did not respond, or has a newer checkpoint; if a turn ran, it ended but was not saved");

    private static final List<String> SETTINGS = List.of(
            "TEMPORAL_ADDRESS    HOST:PORT of the server; default 127.0.0.1:7233",
            "TEMPORAL_NAMESPACE  its namespace; for TLS, API keys and profiles, see Temporal's CLI",
            "WAYMARK_TASK_QUEUE  the task queue; default waymark",
            "WAYMARK_SAVER       where checkpoints are saved, such as file:checkpoints",
            "WAYMARK_AGENTS      the directory of the agent files; default agents",
            "WAYMARK_JOURNAL     where workers note running calls; default .waymark/journal, or off",
            "WAYMARK_MODELS      YAML file about models, which overrides the built-in table",
            "WAYMARK_LIMITS      YAML file with the limits of model services",
            "WAYMARK_CODEC_KEYS  keys that encrypt payloads: ID:KEY,… or file:PATH",
            "WAYMARK_THREAD_KEYS where the keys of individual threads are stored: file:DIR or jdbc:…",
            "WAYMARK_SHARES      shares of the workers while they are busy: subject:ann=2,agent:batch=0.5",
            "NO_COLOR            disables colors in chat");

    private HelpText() {}

    /** Formats the help of the program itself. */
    static void describe(CommandLine waymark) {
        UsageMessageSpec usage = waymark.getCommandSpec().usageMessage();
        usage.customSynopsis(CommandName.get() + " COMMAND [OPTIONS]");
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, help -> commandList());
        waymark.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> footer());
    }

    /** Adds the examples of a command to its help. They are read when the help is shown, which most calls do not need. */
    static void describe(Class<?> command, CommandLine commandLine) {
        commandLine.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> examples(command));
    }

    private static String examples(Class<?> command) {
        List<String> lines = entry(command).stream()
                .flatMap(entry -> Stream.of(entry.examples()))
                .map(CommandName::line)
                .toList();
        return lines.isEmpty() ? "" : HelpWord.section("Examples", lines);
    }

    private static String commandList() {
        return Stream.of(CommandGroup.values())
                .map(group -> HelpWord.section(
                        group.heading(),
                        Commands.all().stream()
                                .filter(command -> entry(command)
                                        .filter(entry -> entry.group() == group)
                                        .isPresent())
                                .map(command -> command.getAnnotation(Command.class))
                                .sorted(Comparator.comparing(Command::name))
                                .map(command -> String.format("%-12s %s", command.name(), summary(command)))
                                .toList()))
                .collect(Collectors.joining());
    }

    private static Optional<HelpEntry> entry(Class<?> command) {
        return Optional.ofNullable(command.getAnnotation(HelpEntry.class));
    }

    private static String summary(Command command) {
        return String.format(command.description()[0]);
    }

    private static String footer() {
        return HelpWord.section("Exit codes", EXIT_CODES) + HelpWord.section("Settings", SETTINGS)
                + "\nHelp for a command: " + CommandName.lineWithoutServer("help COMMAND") + "\n";
    }
}
