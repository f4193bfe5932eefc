package dev.waymark.worker.activity;

import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCompletionException;
import io.temporal.client.ActivityPausedException;
import io.temporal.client.ActivityResetException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells the server, from a side thread, that the activity of this thread is alive, once a second. So a killed worker is
 * noticed, and a cancellation arrives while the activity is busy: then the activity's thread is interrupted, and
 * {@link #cancellation} says why.
 */
public final class Heartbeat implements AutoCloseable {
    private static final int SECONDS = 1;

    private static final ScheduledExecutorService CLOCK = Executors.newScheduledThreadPool(2, task -> {
        Thread thread = new Thread(task, "heartbeats");
        thread.setDaemon(true);
        return thread;
    });

    private final ActivityExecutionContext context;
    private final Thread worker = Thread.currentThread();
    private final ScheduledFuture<?> beats;
    private @Nullable ActivityCompletionException cancellation;
    private boolean over;
    private volatile boolean unstoppable;

    private Heartbeat(ActivityExecutionContext context) {
        this.context = context;
        this.beats = CLOCK.scheduleWithFixedDelay(this::beat, SECONDS, SECONDS, TimeUnit.SECONDS);
    }

    /** Begins for the activity that runs in this thread. Close it in the same thread. */
    public static Heartbeat begin() {
        return new Heartbeat(Activity.getExecutionContext());
    }

    private void beat() {
        try {
            context.heartbeat(null);
        } catch (ActivityPausedException | ActivityResetException e) {
            if (!unstoppable) {
                cancel(e);
            }
        } catch (ActivityCompletionException e) {
            cancel(e);
        }
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
     * again, and what is running now may have done half of something that must not be done twice.
     */
    public void pastTheLastStop() {
        unstoppable = true;
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
