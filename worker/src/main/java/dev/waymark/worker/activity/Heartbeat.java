package dev.waymark.worker.activity;

import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCanceledException;
import io.temporal.client.ActivityCompletionException;
import io.temporal.client.ActivityWorkerShutdownException;
import io.temporal.failure.TimeoutFailure;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the server, from a side thread, that the activity of this thread is alive, once a second. So a killed worker is
 * noticed, and a cancellation arrives while the activity is busy: then the activity's thread is interrupted, and
 * {@link #cancellation} says why. Details of how far it has come go out sooner, when they have changed; the server shows
 * the newest of them, and none is added to history.
 */
public final class Heartbeat implements AutoCloseable {
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(1);
    private static final Duration NEWS = Duration.ofMillis(100);

    private static final ScheduledExecutorService CLOCK = Executors.newScheduledThreadPool(2, task -> {
        Thread thread = new Thread(task, "heartbeats");
        thread.setDaemon(true);
        return thread;
    });

    private final ActivityExecutionContext context;
    private final Thread worker = Thread.currentThread();
    private final Supplier<?> details;
    private final ScheduledFuture<?> beats;
    private @Nullable Object told;
    private long toldAt = System.nanoTime();
    private @Nullable ActivityCompletionException cancellation;
    private boolean over;
    private volatile boolean unstoppable;

    private Heartbeat(ActivityExecutionContext context, Duration period, Supplier<?> details) {
        this.context = context;
        this.details = details;
        this.beats =
                CLOCK.scheduleWithFixedDelay(this::beat, period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Begins for the activity that runs in this thread. Close it in the same thread. */
    public static Heartbeat begin() {
        return new Heartbeat(Activity.getExecutionContext(), SIGN_OF_LIFE, () -> null);
    }

    /**
     * As {@link #begin()}, showing details.
     *
     * @param details what is to be shown now, asked for several times a second in another thread; two that are equal are
     *     sent as one
     */
    public static Heartbeat showing(Supplier<?> details) {
        return new Heartbeat(Activity.getExecutionContext(), NEWS, details);
    }

    private void beat() {
        Object now = details.get();
        if (Objects.equals(now, told) && System.nanoTime() - toldAt < SIGN_OF_LIFE.toNanos()) {
            return;
        }
        told = now;
        toldAt = System.nanoTime();
        try {
            context.heartbeat(now);
        } catch (ActivityCompletionException e) {
            if (!unstoppable || isWanted(e)) {
                cancel(e);
            }
        }
    }

    /** Whether somebody wants the activity to end, rather than to run again or to be given up for lost. */
    private static boolean isWanted(ActivityCompletionException e) {
        return e instanceof ActivityWorkerShutdownException
                || (e instanceof ActivityCanceledException && !(e.getCause() instanceof TimeoutFailure));
    }

    private synchronized void cancel(ActivityCompletionException why) {
        if (!over && cancellation == null) {
            cancellation = why;
            worker.interrupt();
        }
    }

    /**
     * Why the activity's thread was interrupted: what the activity has to throw. An interruption from anywhere else is
     * passed on as it is.
     */
    public synchronized RuntimeException cancellation(InterruptedException interruption) {
        if (cancellation != null) {
            return cancellation;
        }
        Thread.currentThread().interrupt();
        return Activity.wrap(interruption);
    }

    /**
     * From here on only a cancellation interrupts. An operator who pauses or resets an activity means to have it run
     * again, and a server that was out of reach takes it for lost; but what is running now may have done half of something
     * that must not be done twice, and is the only one that will know what it did.
     */
    public void pastTheLastStop() {
        unstoppable = true;
    }

    /** Whether the activity is to end, and its thread was interrupted for it. */
    public synchronized boolean isCancelled() {
        return cancellation != null;
    }

    /** No interruption comes after this. */
    @Override
    public synchronized void close() {
        over = true;
        beats.cancel(false);
        if (cancellation != null) {
            Thread.interrupted();
        }
    }
}
