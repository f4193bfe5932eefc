package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.PrintedCommand;
import dev.waymark.e2e.product.PrintedCommand.Kind;
import dev.waymark.e2e.product.ShellCommand;
import dev.waymark.starter.WaymarkCommand;
import dev.waymark.testkit.process.ChildProcess.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Parses every command in the README and the guide with the real command-line parser. {@link PrintedCommand} describes
 * how a document marks commands that not every machine can run.
 */
class PrintedCommandsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern OPTION = Pattern.compile("(?<=[ \\[|])--[a-z-]+");

    @TempDir
    private Path directory;

    static Stream<Path> documents() throws IOException {
        try (Stream<Path> guide = Files.list(ROOT.resolve("docs/guide"))) {
            return Stream.concat(
                    Stream.of(ROOT.resolve("README.md")),
                    guide.filter(file -> file.toString().endsWith(".md")).sorted())
                    .toList()
                    .stream();
        }
    }

    private static boolean isToRun(PrintedCommand command) {
        return command.kind() == Kind.RUN && command.notRun().isEmpty();
    }

    private static Map<String, CommandSpec> commands() {
        Map<String, CommandSpec> commands = new TreeMap<>();
        WaymarkCommand.commandLine()
                .getSubcommands()
                .forEach((name, command) -> commands.put(name, command.getCommandSpec()));
        return commands;
    }

    @Test
    void documents_haveCommandsAndPermittedReasonsForSkipping(TestReporter reporter) throws IOException {
        List<PrintedCommand> all = documents()
                .flatMap(file -> PrintedCommand.of(ROOT, file).stream())
                .toList();

        assertThat(all).filteredOn(PrintedCommandsTest::isToRun).hasSizeGreaterThan(30);
        assertThat(all)
                .flatExtracting(command -> command.notRun().stream().toList())
                .isSubsetOf(PrintedCommand.REASONS);
        for (PrintedCommand command : all) {
            command.notRun()
                    .or(() -> command.kind() == Kind.FORM
                            ? java.util.Optional.of("has placeholders")
                            : java.util.Optional.empty())
                    .ifPresent(reason ->
                            reporter.publishEntry(command.place(), "not run, " + reason + ": " + command.text()));
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void commands_areKnownToTheParser(Path file) throws Exception {
        SoftAssertions all = new SoftAssertions();
        for (PrintedCommand command : PrintedCommand.of(ROOT, file)) {
            if (command.kind() == Kind.SCRIPT) {
                Path script = Files.writeString(directory.resolve("script.sh"), command.text());
                all.assertThat(new ShellCommand(directory, Map.of()).run("sh -n " + script))
                        .as(command.place())
                        .returns(0, Ended::exitCode);
            } else if (command.isWaymark()) {
                List<String> arguments = ShellCommand.words(command.arguments());
                all.assertThat(problem(arguments)).as(command.place()).isEmpty();
            }
        }
        all.assertAll();
    }

    /** Returns the parser's error for a command line; empty if there is none. */
    private static String problem(List<String> arguments) {
        try {
            WaymarkCommand.commandLine().parseArgs(arguments.toArray(String[]::new));
            return "";
        } catch (ParameterException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** In running text, commands may lack arguments, as in {@code watch --json}, but their options must exist. */
    @ParameterizedTest
    @MethodSource("documents")
    void optionsInTheText_exist(Path file) throws IOException {
        Map<String, CommandSpec> commands = commands();
        List<String> unknown = new ArrayList<>();
        String text = Files.readString(file).replaceAll("(?s)```.*?```", "").replaceAll("(?m)^    .*$", "");
        for (Matcher span = SPAN.matcher(text); span.find(); ) {
            boolean isWhole = span.group(1).startsWith("./waymark ");
            String words = span.group(1).replaceFirst("^\\./waymark ", "");
            String name = words.split(" ", 2)[0];
            CommandSpec command = commands.get(name);
            if (command == null) {
                if (isWhole) {
                    unknown.add(span.group(1));
                }
                continue;
            }
            command = own(command, words);
            for (Matcher option = OPTION.matcher(words); option.find(); ) {
                if (command.findOption(option.group()) == null) {
                    unknown.add(span.group(1));
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    /** The subcommand, as in {@code schedule create}; the command itself if the second word is not a subcommand. */
    private static CommandSpec own(CommandSpec command, String words) {
        String[] all = words.split(" ", 3);
        CommandLine own = all.length > 1 ? command.subcommands().get(all[1]) : null;
        return own == null ? command : own.getCommandSpec();
    }
}
