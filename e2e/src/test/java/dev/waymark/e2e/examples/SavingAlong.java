package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverTarget;
import java.util.function.Consumer;

/** A named thread on a server that keeps everything in memory. */
final class SavingAlong {
    private SavingAlong() {}

    /** Continues the thread, even on another server. The newest step is saved before the answer is returned. */
    static String goOn(AgentClient client, String target, String message) {
        try (CheckpointSaver saver = SaverTarget.parse(target).open()) {
            Prompt prompt = Prompt.of("greeter", message).withThread("trip");
            return assertComplete(
                            client.savingIn(SaveOptions.in(saver)).run(prompt).await())
                    .text();
        }
    }

    /** Reports each checkpoint, until the thread closes. */
    static void watch(AgentClient client, Consumer<String> out) {
        client.watch("trip", new Watcher() {
            @Override
            public boolean happened(Moment moment) {
                return true;
            }

            @Override
            public boolean saved(CheckpointSaved checkpoint) {
                out.accept("Checkpoint saved at step " + checkpoint.step());
                return true;
            }

            @Override
            public boolean loaded(CheckpointLoaded checkpoint) {
                out.accept("Loaded " + checkpoint.messagesCount() + " messages from checkpoint");
                return true;
            }
        });
    }
}
