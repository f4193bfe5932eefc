package dev.waymark.starter.worker;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.display.IdPrefix;
import dev.waymark.history.HistoryScrubber;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.history.ThreadListing;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.secret.Secrets;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.ROLL_OUT, examples = "export trip --out src/test/resources/trip.json")
@Command(
        name = "export",
        description = {
            "Writes a thread's history to a JSON file, for tests with @RecordedThread and for gate.",
            "Values of secrets in the environment are masked. The rest of the conversation is not."
        })
public final class ExportCommand implements Callable<Integer> {

    @Mixin
    private Output output;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            description = "The thread's id, or its beginning if that is unambiguous.")
    private String thread = "";

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to write, readable only by its owner. Its directory is created if missing. Default:"
                    + " standard output.")
    private @Nullable Path file;

    @Option(
            names = "--decrypt",
            description = "Write an encrypted thread in plain text. Without this option, such a thread is refused.")
    private boolean decrypt;

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        ThreadHistory history = read();
        if (history.encrypted() && !decrypt) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    "Encrypted",
                    "this thread is encrypted on the server, but the exported file would not be: " + thread,
                    "Add --decrypt to export it unencrypted");
        }
        ThreadHistory scrubbed = scrubbed(history);
        if (file == null) {
            output.document(scrubbed.document());
            return ExitCode.DONE;
        }
        PrivateFiles.createDirectories(
                Objects.requireNonNull(file.toAbsolutePath().getParent()));
        PrivateFiles.create(file);
        Files.writeString(file, PayloadJson.MAPPER.writeValueAsString(scrubbed.document()) + "\n");
        int events = scrubbed.runs().stream()
                .mapToInt(run -> run.history().getEvents().size())
                .sum();
        if (output.isJson()) {
            output.document(Map.of("thread", thread, "file", file.toString(), "events", events));
        } else {
            output.note(file + ": " + events + " events of " + thread);
        }
        return ExitCode.DONE;
    }

    private ThreadHistory read() throws Exception {
        try (Connection connection = ConnectionOptions.connect(Optional.empty())) {
            ThreadHistoryReader reader = new ThreadHistoryReader(connection.client());
            Optional<ThreadHistory> exact = reader.read(thread);
            if (exact.isPresent()) {
                return exact.get();
            }
            thread = found(connection);
            return reader.read(thread).orElseThrow(this::missing);
        }
    }

    /** Returns the only thread whose id begins with the given text. */
    private String found(Connection connection) throws CommandFailure {
        ThreadListing listing = new ThreadListing(connection.stubs(), connection.namespace());
        List<WorkflowExecutionInfo> runs =
                connection.isInMemory() ? listing.inMemory(false) : listing.all(ThreadListing.IS_LAST_RUN);
        List<String> matches = IdPrefix.matches(
                thread,
                runs.stream().map(run -> run.getExecution().getWorkflowId()).toList());
        if (matches.size() > 1) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    CommandError.BAD_INPUT,
                    "the id matches several threads: " + thread,
                    "Enter more of the id");
        }
        return matches.stream().findFirst().orElseThrow(this::missing);
    }

    private CommandFailure missing() {
        return new CommandFailure(ExitCode.NOT_FOUND, CommandError.NOT_FOUND, "no such thread: " + thread, "");
    }

    /**
     * Masks the values of environment variables that the thread mentions as <code>${NAME}</code>, except for those that
     * every program gets, such as {@code PATH}.
     */
    private ThreadHistory scrubbed(ThreadHistory history) throws CommandFailure {
        Secrets secrets = Secrets.of(history.payloadTexts().toList(), ProcessEnvironment.get())
                .except(CommandRunner.INHERITED);
        try {
            return new HistoryScrubber(secrets::mask).scrub(history);
        } catch (IllegalStateException e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    "SecretInHistory",
                    "the thread can't be exported: " + e.getMessage(),
                    "Replace that secret, and record another thread");
        }
    }
}
