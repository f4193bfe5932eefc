package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import dev.waymark.client.CheckpointLoaded;
import dev.waymark.client.SaveListener;
import dev.waymark.client.SaveOptions;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.starter.render.Output;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How long a command waits for an outcome, and where what comes of it is saved. */
public final class WaitOptions {
    @Option(
            names = "--timeout",
            paramLabel = "D",
            description = "Wait at most this long (500ms, 5s, 2m, 24h). The turn goes on.",
            converter = Durations.class)
    private Duration timeout;

    @Option(
            names = "--saver",
            paramLabel = "TARGET",
            description = "Save the thread after each step: " + Savers.TARGETS + ". Default: " + Savers.SETTING
                    + ", or .waymark/threads of an in-memory waymark dev.")
    private String saver;

    /** The saver lives as long as the process. */
    public AgentClient client(Output output) {
        return client(output, true);
    }

    /** @param byDefault whether the thread is saved where the server wants it, if nobody names a saver */
    public AgentClient client(Output output, boolean byDefault) {
        Optional<CheckpointSaver> named = Savers.target(saver).map(Savers::openLasting);
        AgentClient client = ConnectionOptions.toServer();
        Optional<SaveOptions> saving = named.or(() -> byDefault ? Savers.byDefault(client) : Optional.empty())
                .map(opened -> SaveOptions.in(opened).withListener(new Notes(output)));
        AgentClient saved = saving.map(client::savingIn).orElse(client);
        return Optional.ofNullable(timeout).map(saved::withTimeout).orElse(saved);
    }

    /** What is no result of the command. */
    private record Notes(Output output) implements SaveListener {
        @Override
        public void loaded(CheckpointLoaded event) {
            output.note("checkpoint-loaded: " + event.threadId() + " at step " + event.step() + ", messages: "
                    + event.messagesCount());
        }

        @Override
        public void failed(SaverException problem) {
            output.note(Savers.line(problem));
        }
    }
}
