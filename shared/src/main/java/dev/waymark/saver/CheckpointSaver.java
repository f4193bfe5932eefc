package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Keeps the newest checkpoint of each thread.
 *
 * <p>A document is a JSON object whose {@code threadId} says whose it is. Any text is a thread id: empty, of any length,
 * with any characters but lone surrogates, which no encoding can hold. Ids that differ in one character are different
 * threads, whatever files or databases make of case and of composed letters.
 *
 * <p>Every saver guarantees: {@link #save} is atomic, so readers see the old document or the new one and never a part;
 * once it returns, the document outlives the process (but for {@link MemorySaver}); when it throws, the old document is
 * as it was. An entry that can't be read is reported by {@link #load} and never overwritten. Savers are thread-safe, and
 * any number of processes may use the same place; of two that save the same thread, one wins. The contract suite in the
 * testkit, {@code CheckpointSaverContract}, holds savers to all of this.
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
     * Puts the document in the place of the one that its thread has.
     *
     * @throws SaverException when the document names no thread, when what is there is corrupt, or when it can't be stored
     */
    void save(Json checkpoint);

    /**
     * The same, for savers that keep more of a thread than its newest checkpoint: how it looks at that moment in the
     * {@code session} format, with its log of tool calls. Whoever has a use for it asks for it, at most once. Between two
     * versions, when calls begin or end, it has no {@code checkpoint}.
     */
    default void save(Json checkpoint, Supplier<Json> session) {
        save(checkpoint);
    }

    /**
     * Saves on behalf of a thread that owns the entry, or that is the first to save one, and keeps the owner beside the
     * document. Savers that do not override it keep no owners: each thread may replace what another one saved.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} when another thread owns the entry
     */
    default void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        save(checkpoint, session);
    }

    /** The owner of this thread's entry, or empty when none was saved with it. */
    default Optional<CheckpointOwner> owner(String threadId) {
        return Optional.empty();
    }

    /** Makes this the owner of the thread's entry, whoever owned it before. The document stays as it is. */
    default void handOver(String threadId, CheckpointOwner owner) {}

    /**
     * The document of this thread, equal to what was saved, or empty when there is none.
     *
     * @throws SaverException with type {@code CheckpointCorruption} when there is one that can't be read
     */
    Optional<Json> load(String threadId);

    /** The ids of all threads that have a document, corrupt ones included, exactly as they were saved, sorted. */
    List<String> list();

    /** Removes the document, a corrupt one too. There need not be one. */
    void delete(String threadId);

    /** Whether the thread has a document, which may be a corrupt one. */
    boolean exists(String threadId);

    @Override
    default void close() {}
}
