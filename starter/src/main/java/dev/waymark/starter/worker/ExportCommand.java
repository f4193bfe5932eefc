package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadHistory;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.starter.render.Output;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(
        group = CommandGroup.ROLL_OUT,
        examples = {"export trip --out src/test/resources/trip.json", "export trip --at 3 --out recorded/refund.json"})
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
            names = "--at",
            paramLabel = "V",
            description = "End with the reply of the agent that led to this version, or whose model call is this event,"
                    + " such as RUN/e42.")
    private @Nullable String at;

    @Option(
            names = "--decrypt",
            description = "Write an encrypted thread in plain text. Without this option, such a thread is refused.")
    private boolean decrypt;

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        ThreadExport export = ThreadExport.read(thread, decrypt);
        ThreadHistory scrubbed =
                export.scrubbed(at == null ? export.history() : export.history().upTo(past(export, at)));
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
            output.document(Map.of("thread", scrubbed.thread(), "file", file.toString(), "events", events));
        } else {
            output.note(file + ": " + events + " events of " + scrubbed.thread());
        }
        return ExitCode.DONE;
    }

    private static RecordedReply past(ThreadExport export, String place) throws CommandFailure {
        return RecordedReply.at(export.history().timeline(), place)
                .orElseThrow(() -> new CommandFailure(
                        ExitCode.NOT_FOUND,
                        ProblemType.NOT_FOUND,
                        "the thread has no reply at this place or before it: " + place,
                        "Show its versions: " + Banner.command() + " show "
                                + export.history().thread()));
    }
}
