package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Stores the newest checkpoint of each thread.
 *
 * <p>A document is a JSON object with the field {@code threadId}. A thread id is any text without lone surrogates,
 * which no encoding supports; it can be empty, and of any length. Ids that differ in one character are different
 * threads, even if a file system or database ignores case or normalizes letters.
 *
 * <p>Every saver guarantees: {@link #save} is atomic, so readers see the old document or the new one, never a part.
 * Once it returns, the document outlives the process (except with {@link MemoryStore}). If it throws, the entry has the
 * old document or the whole new one: a save may still take effect after a {@link BoundedSaver} gave up on it, a database
 * may have committed although its answer was lost, and a disk may fail to make a renamed file durable. Save again to be
 * sure of the new one. An unreadable entry is reported by {@link #load} and never overwritten. Savers are thread-safe, and any number of processes may use
 * the same storage; if two processes save the same thread at once, one of the documents is stored. The testkit's
 * {@code CheckpointSaverContract} tests these guarantees.
 *
 * <pre>{@code
 * try (CheckpointSaver saver = SaverTarget.parse("file:checkpoints").open()) {
 *     saver.save(checkpoint);
 *     Optional<Json> same = saver.load("trip");
 * }
 * }</pre>
 */
public interface CheckpointSaver extends AutoCloseable {
    /**
     * Replaces the document of its thread.
     *
     * @throws SaverException if the document names no thread, the stored one is corrupt, or storing fails
     */
    void save(Json checkpoint);

    /**
     * Like {@link #save(Json)}, for savers that store more than the newest checkpoint: the thread in the
     * {@code session} format, with its tool call log. Between two versions, when calls begin or end, the session
     * document has no {@code checkpoint}.
     *
     * @param session called at most once, by savers that need it
     */
    default void save(Json checkpoint, Supplier<Json> session) {
        save(checkpoint);
    }

    /**
     * Saves for a thread that owns the entry, or is the first to save one, and stores the owner with the document.
     * Savers that do not override this method store no owners, so any thread may replace the entry.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} if another thread owns the entry
     */
    default void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        save(checkpoint, session);
    }

    /** The owner of this thread's entry; empty if none was saved with it. */
    default Optional<CheckpointOwner> owner(String threadId) {
        return Optional.empty();
    }

    /**
     * Makes this owner, which is the first or has the next epoch, the owner of the thread's entry. The document does
     * not change. If several threads take over from the same owner, one succeeds. Savers that store no owners ignore
     * the call.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} if another thread has taken over
     */
    default void handOver(String threadId, CheckpointOwner owner) {}

    /**
     * The document of this thread, equal to the saved one; empty if there is none.
     *
     * @throws SaverException with type {@code CheckpointCorruption} if it is unreadable
     */
    Optional<Json> load(String threadId);

    /** The ids of all threads with a document, including corrupt ones, exactly as saved, sorted. */
    List<String> list();

    /** Deletes the document, even a corrupt one, if it exists. */
    void delete(String threadId);

    /** Whether the thread has a document, possibly a corrupt one. */
    boolean exists(String threadId);

    @Override
    default void close() {}
}
