package dev.waymark.starter.checkpoint;

import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.render.CommandErrors;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import java.util.List;

/** Restores all threads that a saver has and the server does not know, one after another, and prints its progress. */
final class SavedThreadsRestore {
    private final Output output;

    SavedThreadsRestore(Output output) {
        this.output = output;
    }

    /** Returns the exit code: that of the first thread that was not restored, if there is one. */
    int from(String target) {
        try (CheckpointSaver saver = SaverOptions.openLasting(target);
                AgentClient client = ConnectionOptions.toServer()
                        .savingIn(SaveOptions.in(saver))
                        .onNotice(this::tell)) {
            List<String> missing = client.saved().missing();
            int exitCode = ExitCode.DONE;
            int restored = 0;
            for (int i = 0; i < missing.size(); i++) {
                String place = (i + 1) + " of " + missing.size() + ": ";
                try {
                    restored += client.saved()
                            .restore(missing.get(i), ResumeOptions.onward())
                            .map(loaded -> restored(place, loaded))
                            .orElse(0);
                } catch (WaymarkException.ServerUnreachable e) {
                    throw e;
                } catch (WaymarkException e) {
                    output.note(place + OneLine.error(e));
                    exitCode = exitCode == ExitCode.DONE ? CommandErrors.of(e).exitCode() : exitCode;
                }
            }
            output.note(
                    missing.isEmpty()
                            ? "This server knows all saved threads."
                            : "Restored " + restored + " of " + OneLine.count(missing.size(), "thread")
                                    + " that this server did not know.");
            return exitCode;
        }
    }

    /** Warns if a restored thread does not own its entry in the saver, and so cannot be saved there. */
    private void tell(ThreadEvent event) {
        if (event instanceof ThreadEvent.SaveFailed failed) {
            output.note(SaverOptions.line(failed.problem()));
        }
    }

    private int restored(String place, ThreadEvent.Loaded loaded) {
        if (output.isJson()) {
            output.document(JsonDocuments.of(loaded));
        } else {
            output.line(
                    place + loaded.threadId() + " at step " + loaded.step() + ", messages: " + loaded.messagesCount());
        }
        return 1;
    }
}
