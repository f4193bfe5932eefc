package dev.waymark.client;

import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.saving.CheckpointWriter;
import dev.waymark.client.saving.SaveReader;
import dev.waymark.connect.DaemonThreads;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Saves threads as they progress, by reading their histories. A follower can be stopped at any time: following a thread
 * again later starts with the newest version. Thread-safe.
 *
 * <pre>{@code
 * try (SaveFollower all = client.saved().followAll(SaveOptions.in(saver))) {
 *     all.await();    // until the process ends, or another Java thread calls all.stop()
 * }
 * }</pre>
 */
public final class SaveFollower implements AutoCloseable {
    private final CheckpointWriter writer;
    private final SaveReader reader;
    private final Function<StatusRuntimeException, WaymarkException> translation;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile Optional<RuntimeException> trouble = Optional.empty();

    private SaveFollower(
            CheckpointWriter writer,
            SaveReader reader,
            Function<StatusRuntimeException, WaymarkException> translation) {
        this.writer = writer;
        this.reader = reader;
        this.translation = translation;
    }

    /**
     * Starts a follower.
     *
     * @param reader passes what it reads to the checkpoint writer
     * @param translation converts failures of the server for {@link #await}
     */
    static SaveFollower begin(
            CheckpointWriter writer,
            SaveReader reader,
            Function<StatusRuntimeException, WaymarkException> translation) {
        SaveFollower following = new SaveFollower(writer, reader, translation);
        DaemonThreads.start("waymark-following", following::run);
        return following;
    }

    private void run() {
        try {
            follow();
            if (isStopped()) {
                lookOnceMore();
            }
        } finally {
            over.countDown();
        }
    }

    private void follow() {
        try {
            while (!reader.isOver() && !stopped.await(reader.read(), TimeUnit.MILLISECONDS)) {
                // Reads until there is nothing more to read or this follower is stopped.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (StatusRuntimeException e) {
            trouble = Optional.of(translation.apply(e));
        } catch (RuntimeException e) {
            trouble = Optional.of(e);
        }
    }

    private boolean isStopped() {
        return stopped.getCount() == 0;
    }

    private void lookOnceMore() {
        // Writes the known versions first, since a server that is gone may never answer.
        reader.takePassedOver();
        writer.hurry();
        try {
            reader.lookOnceMore();
        } catch (RuntimeException e) {
            // The next follower starts with the newest version.
        }
        reader.takePassedOver();
    }

    /**
     * Returns once there is nothing more to follow: the thread has closed, or {@link #stop} was called.
     *
     * @throws WaymarkException if the server has not answered for a while
     */
    public void await() throws InterruptedException {
        over.await();
        if (trouble.isPresent() && !isStopped()) {
            throw trouble.get();
        }
    }

    /**
     * Stops following, and waits until the newest versions of all threads are read and saved, up to the flush timeout.
     * Returns the threads whose newest version is not saved.
     */
    public List<String> stop() {
        WaitDeadline deadline = WaitDeadline.after(writer.flushTimeout());
        stopped.countDown();
        reader.wake();
        try {
            over.await(deadline.millisLeft(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return writer.flush(Duration.ofMillis(deadline.millisLeft()));
    }

    @Override
    public void close() {
        if (!isStopped()) {
            stop();
        }
        writer.close();
    }
}
