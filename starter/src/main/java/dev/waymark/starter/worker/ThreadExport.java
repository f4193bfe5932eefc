package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.IdPrefix;
import dev.waymark.history.HistoryScrubber;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.history.ThreadListing;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.secret.Secrets;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import java.util.List;
import java.util.Optional;

/** A thread that is about to be written to a file, with the secrets that must not be in that file. */
final class ThreadExport {
    private final ThreadHistory history;
    private final Secrets secrets;

    private ThreadExport(ThreadHistory history) {
        this.history = history;
        // Parts of a thread may contain the value of a secret that only another part names.
        this.secrets = Secrets.of(history.payloadTexts().toList(), ProcessEnvironment.get())
                .except(CommandRunner.INHERITED);
    }

    /**
     * Reads a thread from the server.
     *
     * @param thread the thread's id, or its beginning if that is unambiguous
     * @param decrypt whether an encrypted thread may be written in plain text
     */
    static ThreadExport read(String thread, boolean decrypt) throws Exception {
        ThreadHistory history;
        try (Connection connection = ConnectionOptions.connect(Optional.empty())) {
            ThreadHistoryReader reader = new ThreadHistoryReader(connection.client());
            Optional<ThreadHistory> exact = reader.read(thread);
            history = exact.isPresent()
                    ? exact.get()
                    : reader.read(found(connection, thread)).orElseThrow(() -> missing(thread));
        }
        if (history.encrypted() && !decrypt) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    ProblemType.ENCRYPTED,
                    "this thread is encrypted on the server, but the exported file would not be: " + history.thread(),
                    "Add --decrypt to export it unencrypted");
        }
        return new ThreadExport(history);
    }

    /** Returns the only thread whose id begins with the given text. */
    private static String found(Connection connection, String thread) throws CommandFailure {
        ThreadListing listing = new ThreadListing(connection.stubs(), connection.namespace());
        List<WorkflowExecutionInfo> runs =
                connection.isInMemory() ? listing.inMemory(false) : listing.all(ThreadListing.IS_LAST_RUN);
        List<String> matches = IdPrefix.matches(
                thread,
                runs.stream().map(run -> run.getExecution().getWorkflowId()).toList());
        if (matches.size() > 1) {
            throw CommandFailure.badInput("the id matches several threads: " + thread, "Enter more of the id");
        }
        return matches.stream().findFirst().orElseThrow(() -> missing(thread));
    }

    private static CommandFailure missing(String thread) {
        return new CommandFailure(ExitCode.NOT_FOUND, ProblemType.NOT_FOUND, "no such thread: " + thread, "");
    }

    /** The thread as the server has it. */
    ThreadHistory history() {
        return history;
    }

    /**
     * A part of this thread without the values of environment variables that the thread mentions as <code>${NAME}
     * </code>, except for those that every program gets, such as {@code PATH}.
     */
    ThreadHistory scrubbed(ThreadHistory part) throws CommandFailure {
        try {
            return new HistoryScrubber(secrets::mask).scrub(part);
        } catch (IllegalStateException e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    ProblemType.SECRET_IN_HISTORY,
                    "the thread can't be exported: " + e.getMessage(),
                    "Replace that secret, and record another thread");
        }
    }
}
