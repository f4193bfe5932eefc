package dev.waymark.client;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The threads of a client that saves: brings back what the server does not know, and saves what it does.
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
     * Brings a thread back that the server does not know and the saver has, under its own id: with its conversation, its
     * open question, and its calls under the idempotency keys that they had. It stays open. Empty when the server knows
     * it, when the saver does not, and when there is no saver.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} when what the saver has can't be read
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
     * Checks that a new thread of this name would outlive the server.
     *
     * @throws WaymarkException.VolatileStore when the server keeps everything in memory, and nothing is saved
     */
    public void checkThatItLasts(String thread, boolean volatileAllowed) {
        continuation.checkThatItLasts(thread, volatileAllowed);
    }

    /** Saves the newest version of a thread, and waits until it is saved. Does nothing without a saver. */
    public void save(String thread) {
        outcomes.save(thread);
    }
}
