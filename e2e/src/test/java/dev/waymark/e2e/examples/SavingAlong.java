package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.save.SaveOptions;
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
        client.watch("trip", event -> {
            if (event instanceof ThreadEvent.Saved saved) {
                out.accept("Checkpoint saved at step " + saved.step());
            } else if (event instanceof ThreadEvent.Loaded loaded) {
                out.accept("Loaded " + loaded.messagesCount() + " messages from checkpoint");
            }
            return true; // Continue to watch.
        });
    }
}
