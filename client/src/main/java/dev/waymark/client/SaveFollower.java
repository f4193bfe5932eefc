package dev.waymark.client;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Threads that are saved as they go on, by reading their histories. Nothing depends on it: whoever follows a thread
 * again, after any time, begins with the newest. Thread-safe.
 *
 * <pre>{@code
 * try (SaveFollower all = client.followAll(SaveOptions.in(saver))) {
 *     all.await();    // until the process is ended, or another of its threads calls all.stop()
 * }
 * }</pre>
 */
public final class SaveFollower implements AutoCloseable {
    private final SaveOptions saving;
    private final CheckpointWriter keeper;
    private final Reader reader;
    private final Function<StatusRuntimeException, WaymarkException> translation;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile Optional<RuntimeException> trouble = Optional.empty();

    private SaveFollower(
            SaveOptions saving,
            CheckpointWriter keeper,
            Reader reader,
            Function<StatusRuntimeException, WaymarkException> translation) {
        this.saving = saving;
        this.keeper = keeper;
        this.reader = reader;
        this.translation = translation;
    }

    /** What brings news to a keeper, in one Java thread, but for {@link #wake}. */
    interface Reader {
        /** Reads what is new, and returns how long there is nothing to be read. */
        long read();

        boolean isOver();

        /** From any Java thread: what is being waited for will be seen by {@link #lookOnceMore}. */
        default void wake() {}

        /** Takes what happened since the last reading. Nothing is read after it. */
        void lookOnceMore();

        /** Brings what was read, and what the cadence passed over. */
        void takePassedOver();
    }

    static SaveFollower begin(
            SaveOptions saving,
            Function<CheckpointWriter, Reader> readers,
            Function<StatusRuntimeException, WaymarkException> translation) {
        CheckpointWriter keeper = new CheckpointWriter(saving);
        SaveFollower following = new SaveFollower(saving, keeper, readers.apply(keeper), translation);
        Thread thread = new Thread(following::run, "waymark-following");
        thread.setDaemon(true);
        thread.start();
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
                // There may be more.
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
        // What is known already is written meanwhile: a server that went away first may never answer.
        reader.takePassedOver();
        keeper.hurry();
        try {
            reader.lookOnceMore();
        } catch (RuntimeException e) {
            // If it comes back, the next one to follow begins with the newest.
        }
        reader.takePassedOver();
    }

    /**
     * Returns once there is nothing more to follow: the thread has closed, or {@link #stop} was called.
     *
     * @throws WaymarkException when the server has not answered for a while
     */
    public void await() throws InterruptedException {
        over.await();
        if (trouble.isPresent() && !isStopped()) {
            throw trouble.get();
        }
    }

    /**
     * Follows no more, and waits until the newest of all threads is read and saved, at most as long as the flush timeout
     * says. Returns the threads of which it is not saved.
     */
    public List<String> stop() {
        WaitDeadline deadline = WaitDeadline.after(saving.flushTimeout());
        stopped.countDown();
        reader.wake();
        try {
            over.await(deadline.millisLeft(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return keeper.flush(Duration.ofMillis(deadline.millisLeft()));
    }

    @Override
    public void close() {
        if (!isStopped()) {
            stop();
        }
        keeper.close();
    }
}
