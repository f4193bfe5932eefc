package dev.waymark.starter.options;

import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.ProgressView;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** How long a command waits for an outcome, and where it saves the thread. */
public final class WaitOptions {
    @Option(
            names = "--timeout",
            paramLabel = "D",
            description = "Wait at most this long (500ms, 5s, 2m, 24h). The turn continues afterwards.",
            converter = Durations.class)
    private Duration timeout;

    @Option(
            names = "--saver",
            paramLabel = "TARGET",
            description = "Save the thread after each step: " + SaverOptions.TARGETS + ". Default: "
                    + SaverOptions.SETTING + ", or .waymark/threads with an in-memory waymark dev.")
    private String saver;

    private final AtomicBoolean unsaved = new AtomicBoolean();

    /** Returns the command's exit code, or the one for a failed save if the command succeeded and a save failed. */
    public int exitCode(int code) {
        return code == ExitCode.DONE && unsaved.get() ? ExitCode.NOT_SAVED : code;
    }

    /** Returns the saver that the user has chosen, by the option or the environment. */
    public Optional<String> target() {
        return SaverOptions.target(saver);
    }

    /**
     * Prints the command that saves a thread, for a command that does not wait for the outcome. Prints nothing if the
     * user has chosen no saver.
     */
    public void printHowToKeepSaving(String thread, Output output) {
        target().ifPresent(target -> output.note("  "
                + CommandName.line(
                        "save " + ValueText.quoted(thread) + " --to " + ValueText.quoted(target) + " --follow")));
    }

    /** Returns a client that saves threads in the chosen saver, or in the server's. The saver is never closed. */
    public AgentClient client(Output output) {
        return client(output, true);
    }

    /** @param byDefault whether to use the server's recommended saver if none is set */
    public AgentClient client(Output output, boolean byDefault) {
        Optional<CheckpointSaver> named = SaverOptions.target(saver).map(SaverOptions::openLasting);
        AgentClient client = ConnectionOptions.toServer();
        AgentClient saving = named.or(() -> byDefault ? SaverOptions.byDefault(client) : Optional.empty())
                .map(opened -> client.savingIn(SaveOptions.in(opened)))
                .orElse(client);
        Consumer<ThreadEvent> notes = event -> note(event, output);
        AgentClient told = output.isForAPerson()
                ? saving.watchedBy(ProgressView.on(output).andThen(notes))
                : saving.onNotice(notes);
        return Optional.ofNullable(timeout).map(told::withTimeout).orElse(told);
    }

    /** Prints events of the wait and of its saver to stderr, and records a failed save. */
    private void note(ThreadEvent event, Output output) {
        if (event instanceof ThreadEvent.WorkersChanged workers) {
            output.step(OneLine.workers(workers));
        } else if (event instanceof ThreadEvent.Loaded loaded) {
            output.note("checkpoint-loaded: " + loaded.threadId() + " at step " + loaded.step() + ", messages: "
                    + loaded.messagesCount());
        } else if (event instanceof ThreadEvent.SaveFailed failed) {
            output.note(SaverOptions.line(failed.problem()));
        } else if (event instanceof ThreadEvent.Unsaved) {
            unsaved.set(true);
        }
    }
}
