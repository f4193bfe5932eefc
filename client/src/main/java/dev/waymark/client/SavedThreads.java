package dev.waymark.client;

import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ThreadDirectory;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.CheckpointLoaded;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Saves threads of the server, and restores threads that the server does not know.
 *
 * <pre>{@code
 * client.savingIn(SaveOptions.in(saver)).saved().restore("trip", ResumeOptions.onward());
 * }</pre>
 */
public final class SavedThreads {
    private final ClientContext context;
    private final ThreadContinuation continuation;
    private final OutcomeWaiter outcomes;

    SavedThreads(ClientContext context, ThreadContinuation continuation, OutcomeWaiter outcomes) {
        this.context = context;
        this.continuation = continuation;
        this.outcomes = outcomes;
    }

    /**
     * Restores a thread that only the saver has, under its own id: with its conversation, its open question, and its
     * calls under their original idempotency keys. It stays open. Empty if the server knows the thread, if the saver
     * does not, or if there is no saver.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} if the saver's entry cannot be read
     */
    public Optional<CheckpointLoaded> restore(String thread, ResumeOptions how) {
        return context.translated(() -> continuation.restored(RequestLimits.thread(thread), how));
    }

    /** The threads that the saver has and the server does not know, sorted. Empty when there is no saver. */
    public List<String> missing() {
        if (context.saving().isEmpty()) {
            return List.of();
        }
        return context.translated(() -> {
            Set<String> here = context.directory().threads(false).stream()
                    .map(ThreadDirectory.Listed::thread)
                    .collect(Collectors.toSet());
            return SavedThread.all(context).stream()
                    .filter(thread -> !here.contains(thread))
                    .toList();
        });
    }

    /**
     * Checks that a new thread with this name would survive the server.
     *
     * @throws WaymarkException.VolatileStore if the server keeps everything in memory and nothing is saved
     */
    public void checkThatItLasts(String thread, boolean volatileAllowed) {
        continuation.checkThatItLasts(thread, volatileAllowed);
    }

    /** Saves the newest version of a thread and waits for that. Does nothing without a saver. */
    public void save(String thread) {
        outcomes.save(thread);
    }
}
