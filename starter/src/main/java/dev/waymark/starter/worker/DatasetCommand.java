package dev.waymark.starter.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.display.SafeText;
import dev.waymark.history.RecordedDecision;
import dev.waymark.history.ThreadHistory;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.TextTable;
import dev.waymark.worker.rehearsal.Check;
import dev.waymark.worker.rehearsal.Dataset;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code dataset}, whose own commands are its methods. */
@HelpEntry(
        group = CommandGroup.ROLL_OUT,
        examples = {"dataset add trip@3 --name refunds --expect 'never_called: refund'", "dataset list"})
@Command(
        name = "dataset",
        description = "Keeps decisions of threads as files in a repository, with what is expected there, for rehearse"
                + " --dataset: add, list.")
public final class DatasetCommand implements Runnable {
    private static final Path DIRECTORY = Path.of("datasets");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final String NAMED = "The dataset: a directory below datasets, or any directory if it has a slash.";

    @Spec
    private CommandSpec spec;

    /** A decision of a dataset, as it is listed. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    record Listed(String dataset, String decision, List<String> expect) {}

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "dataset needs one of "
                        + String.join(", ", new TreeSet<>(spec.subcommands().keySet())));
    }

    @Command(
            name = "add",
            description = {
                "Adds the decision of an agent that led to a version of a thread, or whose model call is an event.",
                "The file has the conversation up to this decision. Values of secrets in the environment are masked."
                        + " The rest of the conversation is not."
            })
    int add(
            @Mixin Output output,
            @Parameters(
                            paramLabel = "THREAD@V",
                            description = "The thread, and a version such as 3 or an event such as RUN/e42, as show and"
                                    + " rehearse print them.")
                    String place,
            @Option(names = "--name", paramLabel = "N", required = true, description = NAMED) String name,
            @Option(
                            names = "--expect",
                            paramLabel = "CHECK",
                            description =
                                    "What must hold for the decision of an agent there, as in the files of checks:"
                                            + " 'called: find_order', for example. Can be repeated. Default: 'as_recorded:"
                                            + " true'.")
                    @Nullable
                    List<String> expect,
            @Option(
                            names = "--decrypt",
                            description =
                                    "Write an encrypted thread in plain text. Without this option, such a thread is"
                                            + " refused.")
                    boolean decrypt)
            throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        Path directory = directory(name);
        int at = place.lastIndexOf('@');
        if (at < 1 || at == place.length() - 1) {
            throw ThreadsOptions.badInput("not a thread with a version: " + place, "Example: trip@3, or trip@RUN/e42");
        }
        ThreadExport export = ThreadExport.read(place.substring(0, at), decrypt);
        RecordedDecision decision = export.history()
                .timeline()
                .decisionAt(place.substring(at + 1))
                .orElseThrow(() -> new CommandFailure(
                        ExitCode.NOT_FOUND,
                        CommandError.NOT_FOUND,
                        "the thread has no decision at this place or before it: " + place,
                        "Show its versions: " + Banner.command() + " show " + place.substring(0, at)));
        List<String> expected = expect == null ? List.of("as_recorded: true") : expect;
        if (expected.stream().anyMatch(export::isSecret)) {
            throw ThreadsOptions.badInput(
                    "--expect contains the value of a secret of the environment", "Describe it without that value");
        }
        ThreadHistory part = export.scrubbed(export.history().upTo(decision));
        String file = fileName(part.thread() + "@" + decision.called().address());
        String contains = "Thread " + SafeText.line(part.thread()) + " up to the decision at "
                + decision.called().address() + (part.encrypted() ? ", decrypted" : "")
                + ". Values of secrets are masked, the rest of the conversation is not.";
        if (!Dataset.add(directory, file, part, expecting(expected, contains))) {
            throw ThreadsOptions.badInput(
                    "the dataset has this decision: " + directory.resolve(file + ".json"),
                    "Edit the expectations beside it, or delete both files first");
        }
        if (output.isJson()) {
            output.document(new Listed(name, file, expected));
        } else {
            output.note(directory.resolve(file + ".json") + ": " + contains);
        }
        return ExitCode.DONE;
    }

    private static String expecting(List<String> expected, String contains) throws CommandFailure {
        try {
            return Dataset.expecting(expected, contains);
        } catch (YamlProblem e) {
            throw ThreadsOptions.badInput(
                    "--expect is not a check: " + e.getMessage(), "Example: --expect 'never_called: refund'");
        }
    }

    /** The decision's name as the name of a file: the characters of thread ids are not restricted. */
    private static String fileName(String decision) {
        String safe = decision.replaceAll("[^A-Za-z0-9@._-]", "-").replaceFirst("^\\.", "-");
        return safe.length() > 150 ? safe.substring(safe.length() - 150) : safe;
    }

    @Command(name = "list", description = "Lists datasets, their decisions, and what is expected there.")
    int list(
            @Mixin Output output,
            @Option(names = "--name", paramLabel = "N", description = NAMED + " Default: all datasets.") @Nullable
                    String name)
            throws Exception {
        List<Listed> all = new ArrayList<>();
        for (String each : name == null ? names() : List.of(name)) {
            Dataset dataset = read(each);
            for (String decision : dataset.decisions()) {
                all.add(new Listed(
                        each,
                        decision,
                        dataset.expectations(decision).stream()
                                .map(Check::words)
                                .toList()));
            }
        }
        if (output.isJson()) {
            output.document(Map.of("decisions", all));
        } else {
            TextTable.print(
                    output,
                    Stream.concat(
                                    Stream.of(List.of("DATASET", "DECISION", "EXPECTED")),
                                    all.stream()
                                            .map(one -> List.of(
                                                    one.dataset(), one.decision(), String.join("; ", one.expect()))))
                            .toList());
        }
        return ExitCode.DONE;
    }

    private static List<String> names() throws IOException {
        if (!Files.isDirectory(DIRECTORY)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(DIRECTORY)) {
            return all.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    private static Path directory(String name) throws CommandFailure {
        if (name.contains("/")) {
            return Path.of(name);
        }
        if (!NAME.matcher(name).matches()) {
            throw ThreadsOptions.badInput(
                    "not a name for a dataset: " + name, "Use letters, digits, dots, hyphens and underscores");
        }
        return DIRECTORY.resolve(name);
    }

    /** The directory of a dataset, which must exist. */
    static Path existing(String name) throws CommandFailure {
        Path directory = directory(name);
        if (!Files.isDirectory(directory)) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    CommandError.NOT_FOUND,
                    "no such dataset: " + directory,
                    "Add decisions to it with: " + Banner.command() + " dataset add THREAD@V --name " + name);
        }
        return directory;
    }

    /** Reads a dataset, which must exist. */
    static Dataset read(String name) throws IOException, CommandFailure {
        try {
            return Dataset.read(existing(name));
        } catch (YamlProblem e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT, "ChecksInvalid", "invalid dataset: " + e.getMessage(), "Fix the file");
        }
    }
}
