package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.saving.AllThreadsFollower;
import dev.waymark.client.saving.CheckpointWriter;
import dev.waymark.client.saving.ThreadFollower;
import dev.waymark.saver.SaverException;
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
    private final NewThreads threads;
    private final ThreadResumer resumer;
    private final OutcomeSaver saves;

    SavedThreads(ClientContext context, NewThreads threads, ThreadResumer resumer, OutcomeSaver saves) {
        this.context = context;
        this.threads = threads;
        this.resumer = resumer;
        this.saves = saves;
    }

    /**
     * Restores a thread that only the saver has, under its own id: with its conversation, its open question, and its
     * calls under their original idempotency keys. The thread stays open. Returns empty if the server knows the thread,
     * if the saver does not, or if there is no saver.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} if the saver's entry cannot be read
     */
    public Optional<ThreadEvent.Loaded> restore(String thread, ResumeOptions how) {
        return context.translated(() -> resumer.restored(RequestLimits.thread(thread), how));
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
     * Checks that a new thread with this name would survive a restart of the server.
     *
     * @throws WaymarkException.VolatileStore if the server keeps everything in memory, this client has no saver, and
     * {@code volatileAllowed} is false
     */
    public void checkThatItLasts(String thread, boolean volatileAllowed) {
        threads.checkThatItLasts(thread, volatileAllowed);
    }

    /** Saves the newest version of a thread, and waits until it is saved. Does nothing without a saver. */
    public void save(String thread) {
        saves.save(thread);
    }

    /** The saver that an in-memory server recommends for its threads. It is used only if the caller asks for it. */
    public Optional<String> defaultSaver() {
        return context.connection().defaultSaver();
    }

    /**
     * Saves the current state of a thread once.
     *
     * @param replacing whether the checkpoint may replace a newer one, or one of another thread
     * @throws SaverException if the checkpoint may not replace the saver's checkpoint, or if the saver fails or does
     * not answer in time
     */
    public ThreadEvent.Saved saveOnce(String thread, SaveOptions where, boolean replacing) {
        return context.translated(() -> saves.saveOnce(thread, where, replacing));
    }

    /**
     * Saves a thread asynchronously as it progresses, until it closes or the follower is stopped. Starts with the
     * newest version. Reports to the listener of this client.
     */
    public SaveFollower follow(String thread, SaveOptions where) {
        return context.translated(() -> {
            MomentStream feed = context.moments(
                    thread, context.get(RequestLimits.thread(thread)).runId());
            CheckpointWriter writer = saves.writer(where);
            return SaveFollower.begin(
                    writer, new ThreadFollower(thread, feed, writer, where.cadence()), context.failures()::translate);
        });
    }

    /**
     * Like {@link #follow}, for all threads of the server, including those that start later. Closed threads are saved
     * once.
     */
    public SaveFollower followAll(SaveOptions where) {
        CheckpointWriter writer = saves.writer(where);
        return SaveFollower.begin(
                writer,
                new AllThreadsFollower(
                        context.directory(),
                        listed -> context.moments(listed.thread(), listed.runId()),
                        writer,
                        where.cadence()),
                context.failures()::translate);
    }

    /** Whether the server loses everything when it stops. */
    public boolean isInMemory() {
        return context.connection().isInMemory();
    }
}
