package dev.waymark.client;

import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reports the events of a turn to the client's listener while its outcome is awaited. */
final class WaitNotifier {
    private final ClientContext context;
    private final OutcomeDetector waiting;
    private final LiveText words;
    private final String thread;
    private final MomentEvents events;
    private List<PendingItem> asked = List.of();

    WaitNotifier(ClientContext context, String thread, OutcomeDetector waiting) {
        this.context = context;
        this.waiting = waiting;
        this.thread = thread;
        this.words = context.liveText(thread);
        this.events = new MomentEvents(thread, true);
    }

    /** Returns how long to wait for events: this long, or less if {@link #ask} has to be called earlier. */
    long millis(long most) {
        return context.followsSteps() ? Math.min(most, words.millisToNext()) : most;
    }

    /**
     * Requests new text of a reply if that is due. Completes when it has arrived; never completes if none is requested.
     */
    CompletableFuture<?> ask() {
        return context.followsSteps() ? words.ask() : new CompletableFuture<>();
    }

    void cancel() {
        words.cancel();
    }

    /** Reports that no worker takes the work, and later that workers take it again. */
    void tell(Optional<WaymarkException.NoWorker> absence) {
        events.of(absence).ifPresent(event -> WaitThreads.blocking(() -> context.tell(event)));
    }

    void tell(List<Moment> moments) {
        if (!context.followsSteps()) {
            return;
        }
        for (Moment moment : moments) {
            List<ThreadEvent> caused = events.of(moment);
            if (waiting.isOn(moment.state())) {
                words.follow(moment);
                caused.forEach(this::tell);
                tellOfRequests(moment.state().pending(thread));
            }
        }
        words.tell(context::tell);
    }

    /** A client with a saver reports a version once the saver has it. */
    private void tell(ThreadEvent event) {
        if (context.saving().isEmpty() || !(event instanceof ThreadEvent.Saved)) {
            context.tell(event);
        }
    }

    private void tellOfRequests(List<PendingItem> open) {
        open.stream().filter(item -> !asked.contains(item)).forEach(item -> context.tell(new ThreadEvent.Asked(item)));
        asked = open;
    }
}
