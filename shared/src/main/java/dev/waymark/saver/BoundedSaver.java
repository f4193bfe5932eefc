package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Gives up on a saver that does not answer in time, such as a database with locked tables. The operation continues in a
 * daemon thread, and may still take effect.
 */
public final class BoundedSaver implements CheckpointSaver {
    private final CheckpointSaver saver;
    private final Duration most;

    /**
     * Wraps a saver. Closing this object closes the saver.
     *
     * @param most the time limit of each operation
     */
    public BoundedSaver(CheckpointSaver saver, Duration most) {
        this.saver = saver;
        this.most = most;
    }

    @Override
    public void save(Json checkpoint) {
        bounded("saving " + checkpoint.field("threadId"), () -> {
            saver.save(checkpoint);
            return true;
        });
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session) {
        bounded("saving " + checkpoint.field("threadId"), () -> {
            saver.save(checkpoint, session);
            return true;
        });
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        bounded("saving " + checkpoint.field("threadId"), () -> {
            saver.save(checkpoint, session, owner);
            return true;
        });
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        return bounded("loading " + threadId, () -> saver.owner(threadId));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        bounded("saving " + threadId, () -> {
            saver.handOver(threadId, owner);
            return true;
        });
    }

    @Override
    public Optional<Json> load(String threadId) {
        return bounded("loading " + threadId, () -> saver.load(threadId));
    }

    @Override
    public List<String> list() {
        return bounded("listing", saver::list);
    }

    @Override
    public void delete(String threadId) {
        bounded("deleting " + threadId, () -> {
            saver.delete(threadId);
            return true;
        });
    }

    @Override
    public boolean exists(String threadId) {
        return bounded("looking for " + threadId, () -> saver.exists(threadId));
    }

    @Override
    public void close() {
        saver.close();
    }

    private <T> T bounded(String what, Callable<T> operation) {
        FutureTask<T> task = new FutureTask<>(operation);
        Thread thread = new Thread(task, "waymark-saver");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw SaverException.timedOut(what, most);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaverException.timedOut(what, most);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
