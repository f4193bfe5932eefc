package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.saver.CheckpointSaver;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A thread with a saver, an approval in code, and everything that happens as one stream. */
final class EventsOfATurn {
    private EventsOfATurn() {}

    /** Continues the thread, also on a server that has never seen it. */
    static void goOn(AgentClient client, CheckpointSaver saver, String message, Consumer<String> out) {
        AgentClient session =
                client.savingIn(SaveOptions.in(saver)).onApproval(request -> Optional.of(Approval.approve()));
        Prompt prompt = Prompt.of("billing", message).withThread("user-session-123");

        try (Stream<ThreadEvent> events = session.stream(saving -> saving.run(prompt))) {
            events.forEach(event -> {
                if (event instanceof ThreadEvent.Loaded loaded) {
                    out.accept("Loaded " + loaded.messagesCount() + " messages from checkpoint");
                } else if (event instanceof ThreadEvent.Said said) {
                    out.accept(said.words().text());
                } else if (event instanceof ThreadEvent.Asked asked) {
                    out.accept(asked.request().words());
                } else if (event instanceof ThreadEvent.Saved saved) {
                    out.accept("Checkpoint saved at step " + saved.step());
                } else if (event instanceof ThreadEvent.Ended ended) {
                    out.accept(assertComplete(ended.result()).text());
                }
            });
        }
    }
}
