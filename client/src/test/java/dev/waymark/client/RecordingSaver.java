package dev.waymark.client;

import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.KeyValueSaver;
import dev.waymark.saver.MemoryStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** A saver that waits and fails as a test configures it, and records what it was given. */
public final class RecordingSaver implements CheckpointSaver {
    private final CheckpointSaver saved = new KeyValueSaver(new MemoryStore());
    private final Semaphore mayGoOn = new Semaphore(Integer.MAX_VALUE / 2);
    private final Deque<RuntimeException> failures = new ArrayDeque<>();
    private final List<String> steps = new ArrayList<>();
    private final List<Json> sessions = new ArrayList<>();
    private int attempts;

    /** From now on, a save waits until {@link #letOneThrough} or {@link #letAllThrough}. */
    public RecordingSaver stopping() {
        mayGoOn.drainPermits();
        return this;
    }

    void letOneThrough() {
        mayGoOn.release();
    }

    public void letAllThrough() {
        mayGoOn.release(Integer.MAX_VALUE / 2);
    }

    /** Makes the next saves fail, one with each of these exceptions. */
    public synchronized RecordingSaver failing(RuntimeException... next) {
        failures.addAll(List.of(next));
        return this;
    }

    /** The saved checkpoints, as {@code THREAD/STEP}. */
    public synchronized List<String> steps() {
        return List.copyOf(steps);
    }

    /** The {@code session} document that was saved with each checkpoint. */
    public synchronized List<Json> sessions() {
        return List.copyOf(sessions);
    }

    /** The number of saves that were started. */
    public synchronized int attempts() {
        return attempts;
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session) {
        synchronized (this) {
            attempts++;
        }
        mayGoOn.acquireUninterruptibly();
        synchronized (this) {
            if (!failures.isEmpty()) {
                throw failures.remove();
            }
            saved.save(checkpoint);
            sessions.add(session.get());
            steps.add(checkpoint.field("threadId") + "/" + checkpoint.field("step"));
        }
    }

    @Override
    public void save(Json checkpoint) {
        save(checkpoint, () -> Json.EMPTY_OBJECT);
    }

    @Override
    public Optional<Json> load(String threadId) {
        return saved.load(threadId);
    }

    @Override
    public List<String> list() {
        return saved.list();
    }

    @Override
    public void delete(String threadId) {
        saved.delete(threadId);
    }

    @Override
    public boolean exists(String threadId) {
        return saved.exists(threadId);
    }
}
