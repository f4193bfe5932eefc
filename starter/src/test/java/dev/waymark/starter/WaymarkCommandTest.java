package dev.waymark.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.cli.HelpEntry;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class WaymarkCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "|no command. Try: waymark --help",
                "fly|no such command: fly. Try: waymark --help",
                "dve|no such command: dve. Did you mean \"dev\"? Try: waymark --help",
                "help agnets|no such command: agnets. Did you mean \"agents\"? Try: waymark --help",
                "pending --kind approvals|no such kind: approvals. Use one of question, approval, unknown. Try: waymark"
                        + " pending --help",
                "pending --status open|no such status: open. Use one of interrupted, none, running, complete, cut,"
                        + " failed, max-iterations, budget, stopped, cancelled. Try: waymark pending --help",
                "sessions --status done|no such status: done. Use one of interrupted, none, running, complete, cut,"
                        + " failed, max-iterations, budget, stopped, cancelled. Try: waymark sessions --help",
                "schedule|schedule needs one of backfill, create, delete, list, pause, resume, show, trigger. Try: waymark"
                        + " schedule --help",
                "schedule create nightly --agent a --every 1h --overlap often Go|no such policy: often. Use one of skip,"
                        + " buffer, cancel, allow. Try: waymark schedule create --help",
                "sessions --address localhost:99999|--address has no port of 1 to 65535: localhost:99999. Try: waymark"
                        + " --help",
                "schedule show|Missing required parameter: 'NAME'. Try: waymark schedule show --help",
                "schedule backfill n --from monday --to 2026-11-20T00:00:00Z|Invalid value for option '--from': 'monday' is"
                        + " not a time: write 2026-11-20T00:00:00Z. Try: waymark schedule backfill --help",
                "say|Missing required parameter: 'THREAD'. Try: waymark say --help",
                "say t1|say needs either MESSAGE or --retry. Try: waymark say --help",
                "say t1 hi --retry|say needs either MESSAGE or --retry. Try: waymark say --help",
                "checkpoint t1 --format tape|no such format: tape. Use one of runner, thread, phases, messages,"
                        + " session, versions. Try: waymark checkpoint --help",
                "budget t1|no limit given: use --usd, --tokens or --iterations. Try: waymark budget --help",
                "budget t1 --usd nan|Invalid value for option '--usd': 'nan' is not a number: write 5 or 1.50. Try:"
                        + " waymark budget --help",
                "save --to memory:|save needs either THREAD or --all. Try: waymark save --help",
                "save t1 --all --follow|save needs either THREAD or --all. Try: waymark save --help",
                "save t1 --every turn --to file:x|--all and --every require --follow. Try: waymark" + " save --help",
                "save t1 --follow --every day|Invalid value for option '--every': 'day' is not a time to save: write"
                        + " turn, step, or 500ms, 5s, 2m, 24h. Try: waymark save --help",
                "save t1 --follow|a saver is required: use --to TARGET, or set WAYMARK_SAVER. Try: waymark save --help",
                "approve t1 --args []|--args is not a JSON object: []. Try: waymark approve --help",
                "resume t1 go|unexpected argument: go. Try: waymark resume --help",
                "deny t1 --args {}|Unknown options: '--args', '{}'. Try: waymark deny --help",
                "settle t1 --call c --outcome rerun --result x|--result requires --outcome done. Try: waymark"
                        + " settle --help",
                "settle t1 --call c --outcome maybe|no such outcome: maybe. Use one of done, not-done, rerun, give-up. Try:"
                        + " waymark settle --help",
            })
    void execute_misused_isOneLineAndExitCode2(String arguments, String complaint) {
        int exitCode = execute(arguments == null ? new String[0] : arguments.split(" "));

        assertThat(err.toString()).isEqualTo("waymark: " + complaint + System.lineSeparator());
        assertThat(exitCode).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void execute_misusedWithJson_alsoPrintsTheError() {
        assertThat(execute("say", "--json")).isEqualTo(2);
        assertThat(out.toString().trim())
                .isEqualTo("{\"error\":{\"type\":\"BadInput\",\"message\":\"Missing required parameter: 'THREAD'\"}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "say --version", "--help", "run --help", "verify -h"})
    void execute_versionAndHelp_workEverywhere(String arguments) {
        assertThat(execute(arguments.split(" "))).isZero();
        assertThat(out.toString()).isNotBlank();
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--every 1h --thread trip|a schedule can't send messages into one thread: trip",
                "--every 1h --cron @daily|the times are given more than once for the schedule",
                "--jitter 5s|no times are given for the schedule",
                "--calendar []|--calendar is not an object of texts: []",
                "--calendar 9|--calendar is not an object of texts: 9",
                "--cron @reboot|a cron expression has five fields, not 1: @reboot"
            })
    void execute_invalidSchedule_isRefusedWithoutServer(String options, String complaint) {
        String[] arguments = ("schedule create nightly --agent a Go " + options).split(" ");

        assertThat(execute(arguments)).isEqualTo(2);
        assertThat(err.toString()).startsWith("waymark: " + complaint);
    }

    @Test
    void execute_chatWithJson_isRefusedAndNotInItsHelp() {
        assertThat(execute("chat", "--help")).isZero();
        assertThat(out.toString()).contains("--verbose").doesNotContain("--json");

        assertThat(execute("chat", "--json")).isEqualTo(2);
        assertThat(err.toString()).startsWith("waymark: chat has no --json: use waymark watch --json");
    }

    @Test
    void execute_missingFile_isNotFound() {
        assertThat(execute("run", "--agent", "a", "--messages", "/nowhere.json"))
                .isEqualTo(3);
        assertThat(err.toString()).isEqualTo("waymark: no such file: /nowhere.json" + System.lineSeparator());
    }

    /** The first problem is the message, the others are details. */
    @Test
    void execute_failure_escapesControlCharacters(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("billing.yaml"), "\"\\x9b2Ja\": 1\n\"\\x9b2Jb\": 2\n\"\\u202ec\": 3\n");

        assertThat(execute("agents", "--agents", directory.toString(), "--json"))
                .isEqualTo(2);
        assertThat(out.toString()).contains("u009b2Ja", "u009b2Jb", "u202ec").doesNotContain("\u009b", "\u202e");
        assertThat(err.toString()).contains("u009b2Ja", "u009b2Jb", "u202ec").doesNotContain("\u009b", "\u202e");
    }

    @Test
    void execute_truncatedFile_isReportedWithoutParserDetails(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("cut.json"), "[\n");

        assertThat(execute("run", "--agent", "a", "--messages", file.toString()))
                .isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("waymark: the file is not JSON: " + file
                        + ":2: Unexpected end-of-input: expected close marker for Array");
    }

    /** {@code ./waymark} writes no class archive if this fails, and every start is slow. */
    @Test
    void execute_warmUp_runsItsCommands() {
        assertThat(execute("warm-up")).as(err.toString()).isZero();
    }

    @Test
    void execute_describe_printsEveryCommandOnALine() {
        assertThat(execute("describe")).isZero();

        assertThat(out.toString().lines().map(line -> line.split("\t", -1)[0]))
                .containsExactlyInAnyOrderElementsOf(Commands.names());
        assertThat(out.toString())
                .contains("budget\tRaises a limit.\t--address --help --iterations ")
                .contains("worker\tRuns agents on an existing Temporal server.\t--activity-slots --address ");
    }

    @Test
    void execute_help_listsEveryCommandInOneSection() {
        assertThat(execute("help")).isZero();

        for (String name : Commands.names()) {
            assertThat(out.toString().lines().filter(line -> line.startsWith("  " + name + " ")))
                    .as(name)
                    .hasSize(1);
        }
        assertThat(out.toString()).contains("\nStart:\n  chat ", "\nInstall:\n  completion ");
    }

    @Test
    void execute_exampleOfACommand_canBeParsed() {
        CommandLine waymark = WaymarkCommand.commandLine();
        for (Class<?> command : Commands.all()) {
            HelpEntry entry = command.getAnnotation(HelpEntry.class);
            boolean isHidden = command.getAnnotation(Command.class).hidden();
            assertThat(entry == null).as(command.getName()).isEqualTo(isHidden);
            assertThat(Commands.find(Commands.name(command))).contains(command);
            if (entry != null) {
                for (String example : entry.examples()) {
                    assertThat(example).startsWith(Commands.name(command));
                    waymark.parseArgs(words(example));
                }
            }
        }
    }

    /** Splits a command line as a shell does, as far as the examples need it. */
    private static String[] words(String line) {
        return Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)")
                .matcher(line)
                .results()
                .map(word -> word.group().replaceAll("^['\"]|['\"]$", ""))
                .toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--address 127.0.0.1:1 pending", "--address=127.0.0.1:1 pending", "pending --address 127.0.0.1:1"
            })
    void execute_addressBeforeOrAfterTheCommand_isUsed(String arguments) {
        assertThat(execute(arguments.split(" "))).isEqualTo(5);
        assertThat(err.toString()).contains("127.0.0.1:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dev --address 127.0.0.1:1", "--address 127.0.0.1:1 dev"})
    void execute_devWithAnAddress_isRefused(String arguments) {
        assertThat(execute(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString())
                .isEqualTo("waymark: dev starts its own server, so it cannot use --address 127.0.0.1:1. Leave it out;"
                        + " --port sets the port of the server" + System.lineSeparator());
    }

    @ParameterizedTest
    @ValueSource(strings = {"install", "completion zsh"})
    void execute_scriptCommandWithoutItsFile_saysSo(String arguments) {
        assertThat(execute(arguments.split(" "))).isEqualTo(3);
        assertThat(err.toString()).contains("shell/" + arguments.split(" ")[0] + ".sh");
    }

    private int execute(String... args) {
        return WaymarkCommand.execute(new PrintWriter(out), new PrintWriter(err), args);
    }
}
