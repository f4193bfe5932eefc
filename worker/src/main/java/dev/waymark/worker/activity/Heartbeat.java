package dev.waymark.worker.activity;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import io.grpc.StatusRuntimeException;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.activity.ActivityInfo;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.enums.v1.TimeoutType;
import io.temporal.api.workflowservice.v1.RecordActivityTaskHeartbeatRequest;
import io.temporal.api.workflowservice.v1.RecordActivityTaskHeartbeatResponse;
import io.temporal.client.ActivityCanceledException;
import io.temporal.client.ActivityCompletionException;
import io.temporal.client.ActivityNotExistsException;
import io.temporal.client.ActivityPausedException;
import io.temporal.client.ActivityResetException;
import io.temporal.client.WorkflowClient;
import io.temporal.common.converter.DataConverter;
import io.temporal.failure.TimeoutFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends heartbeats for the activity of this thread. They let the server detect a killed worker, and deliver
 * cancellations: a cancellation interrupts the activity's thread, and {@link #cancellation} returns the reason. They
 * carry progress details for the next attempt. The server keeps only the newest details, and history contains them only
 * if the activity ends with a timeout.
 *
 * <p>Heartbeats are sent once a second, or less often if many activities run, but at least five times per heartbeat
 * timeout. They are asynchronous: on a slow connection, activities do not delay each other's heartbeats, and after a
 * third of the heartbeat timeout, an answer that has not come no longer delays the next heartbeat. The SDK's own
 * heartbeats block a thread for a whole round trip, and are at most as frequent as four fifths of the timeout.
 */
public final class Heartbeat implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);

    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(1);
    private static final int TICK_MILLIS = 25;
    private static final Duration FOREVER = Duration.ofDays(365);
    private static final Duration RETRY = Duration.ofMillis(500);

    /** The shortest interval, per running activity: with 250 of them, each sends every 2.5 seconds. */
    private static final Duration SHARE = Duration.ofMillis(10);

    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(5);

    /** Gives the server time to detect a heartbeat timeout before the activity assumes it. */
    private static final Duration TIMEOUT_SLACK = Duration.ofSeconds(5);

    private static final AtomicInteger ALIVE = new AtomicInteger();

    private static final ScheduledExecutorService CLOCK =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("heartbeats"));

    private final WorkflowClient client;
    private final ActivityInfo info;
    private final Thread worker = Thread.currentThread();
    private final Supplier<?> details;
    private final long started = System.nanoTime();
    private final ScheduledFuture<?> ticks;
    private long due = started + SIGN_OF_LIFE.toNanos();
    private long sentAt = started;
    private long heardAt = started;
    private long end = started + FOREVER.toNanos();
    private long sent;
    private int unanswered;
    private boolean urgent;
    private Optional<Payloads> lastEncoded = Optional.empty();
    private @Nullable ActivityCompletionException cancellation;
    private boolean over;
    private boolean unstoppable;

    private Heartbeat(ActivityExecutionContext context, Supplier<?> details) {
        this.client = context.getWorkflowClient();
        this.info = context.getInfo();
        this.details = details;
        ALIVE.incrementAndGet();
        this.ticks = CLOCK.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Starts heartbeats for the activity of the current thread. Close the heartbeat in the same thread. */
    public static Heartbeat begin() {
        return new Heartbeat(Activity.getExecutionContext(), () -> null);
    }

    /**
     * Like {@link #begin()}, with progress details.
     *
     * @param details returns the current details; called in another thread for each heartbeat
     */
    public static Heartbeat showing(Supplier<?> details) {
        return new Heartbeat(Activity.getExecutionContext(), details);
    }

    /** Catches exceptions, because an uncaught one would stop the timer of these heartbeats. */
    private void tick() {
        try {
            beat();
        } catch (RuntimeException e) {
            LOG.warn("heartbeat of {} failed", info.getActivityId(), e);
        }
    }

    private void beat() {
        if (!isDue(System.nanoTime())) {
            return;
        }
        long number;
        synchronized (this) {
            long time = System.nanoTime();
            if (!isDue(time)) {
                return;
            }
            if (hasCertainlyTimedOut(time)) {
                cancel(timedOut());
            }
            sentAt = time;
            due = time + pace().toNanos();
            unanswered++;
            number = ++sent;
            urgent = false;
        }
        try {
            ListenableFuture<RecordActivityTaskHeartbeatResponse> answer = send(details.get());
            answer.addListener(() -> onAnswer(answer, number), Runnable::run);
        } catch (RuntimeException e) {
            onFailure(e, number);
            throw e;
        }
    }

    private synchronized boolean isDue(long time) {
        return !over && !waitsForAnswer(time) && time - end <= 0 && (urgent || time - due >= 0);
    }

    /**
     * Whether the answer to the last heartbeat may still come in time for the next one. A single lost message must not
     * silence the activity for the whole timeout.
     */
    private boolean waitsForAnswer(long time) {
        Duration timeout = info.getHeartbeatTimeout();
        return unanswered > 0
                && (timeout.isZero() || time - sentAt < timeout.dividedBy(3).toNanos());
    }

    private Duration pace() {
        Duration crowded = SHARE.multipliedBy(ALIVE.get());
        Duration longest = info.getHeartbeatTimeout().dividedBy(5);
        Duration pace = crowded.compareTo(SIGN_OF_LIFE) > 0 ? crowded : SIGN_OF_LIFE;
        return longest.isZero() || pace.compareTo(longest) < 0 ? pace : longest;
    }

    /** Whether the server has certainly timed out this attempt by now, and may have started another one. */
    private boolean hasCertainlyTimedOut(long time) {
        Duration timeout = info.getHeartbeatTimeout();
        return !timeout.isZero() && time - heardAt > timeout.plus(TIMEOUT_SLACK).toNanos();
    }

    private ActivityCanceledException timedOut() {
        return new ActivityCanceledException(info, new TimeoutFailure(null, null, TimeoutType.TIMEOUT_TYPE_HEARTBEAT));
    }

    private ListenableFuture<RecordActivityTaskHeartbeatResponse> send(@Nullable Object now) {
        RecordActivityTaskHeartbeatRequest.Builder request = RecordActivityTaskHeartbeatRequest.newBuilder()
                .setTaskToken(ByteString.copyFrom(info.getTaskToken()))
                .setIdentity(client.getOptions().getIdentity())
                .setNamespace(client.getOptions().getNamespace());
        encoded(now).ifPresent(request::setDetails);
        return client.getWorkflowServiceStubs()
                .futureStub()
                .withDeadlineAfter(LONGEST_ANSWER.toNanos(), TimeUnit.NANOSECONDS)
                .recordActivityTaskHeartbeat(request.build());
    }

    /**
     * Returns the encoded details; empty if there are none. If they cannot be encrypted now, returns the last ones that
     * could: the server would replace them by nothing, and the next attempt may need them.
     */
    private Optional<Payloads> encoded(@Nullable Object now) {
        if (now == null) {
            return Optional.empty();
        }
        Optional<Payloads> encoded;
        try {
            encoded = PayloadJson.dataConverter(client, info.getWorkflowId()).toPayloads(now);
        } catch (KeyStoreException e) {
            LOG.debug("a heartbeat of {} is sent with older details: {}", info.getActivityId(), e.getMessage());
            encoded = Optional.empty();
        }
        synchronized (this) {
            lastEncoded = encoded.or(() -> lastEncoded);
            return lastEncoded;
        }
    }

    /** Runs in a thread of the connection and must not block. */
    private void onAnswer(ListenableFuture<RecordActivityTaskHeartbeatResponse> answered, long number) {
        try {
            RecordActivityTaskHeartbeatResponse answer = answered.get();
            synchronized (this) {
                arrived(number);
                heardAt = System.nanoTime();
                if (answer.getCancelRequested()) {
                    cancel(new ActivityCanceledException(info));
                } else if (answer.getActivityReset()) {
                    cancel(new ActivityResetException(info));
                } else if (answer.getActivityPaused()) {
                    cancel(new ActivityPausedException(info));
                }
            }
        } catch (ExecutionException e) {
            onFailure(e.getCause(), number);
        } catch (InterruptedException e) {
            // Cannot happen: the future is done.
            Thread.currentThread().interrupt();
        }
    }

    /** An older heartbeat that ends last may have replaced newer details, so they are sent again. */
    private synchronized void arrived(long number) {
        unanswered--;
        urgent |= number < sent;
        notifyAll();
    }

    private synchronized void onFailure(@Nullable Throwable why, long number) {
        arrived(number);
        due = System.nanoTime() + RETRY.toNanos();
        if (why instanceof StatusRuntimeException status && ServerAnswer.GONE.is(status)) {
            cancel(new ActivityNotExistsException(info, status));
        } else {
            LOG.debug("no answer to a heartbeat of {}: {}", info.getActivityId(), String.valueOf(why));
        }
    }

    /** Interrupts the thread. After {@link #interruptOnlyIfCancelled}, only a requested cancellation does so. */
    private synchronized void cancel(ActivityCompletionException why) {
        boolean wanted = why instanceof ActivityCanceledException && !(why.getCause() instanceof TimeoutFailure);
        if (!over && cancellation == null && (wanted || !unstoppable)) {
            cancellation = why;
            worker.interrupt();
        }
    }

    /**
     * Returns the exception to throw after the activity's thread was interrupted. If this heartbeat did not interrupt
     * it, the interrupt flag is restored and the interruption is wrapped.
     */
    public synchronized RuntimeException cancellation(InterruptedException interruption) {
        if (cancellation != null) {
            return cancellation;
        }
        Thread.currentThread().interrupt();
        return Activity.wrap(interruption);
    }

    /**
     * From now on, this heartbeat interrupts the activity only if its cancellation is requested. An operator who pauses
     * or resets an activity expects it to run again, and a server that was unreachable treats it as lost. But the
     * running attempt may already have done part of something that must not be done twice, and only this attempt knows
     * which part.
     */
    public synchronized void interruptOnlyIfCancelled() {
        unstoppable = true;
    }

    /** Sends the current details within {@value #TICK_MILLIS} ms, or when the previous heartbeat is answered. */
    public synchronized void sendAtOnce() {
        urgent = true;
    }

    /** Stops the heartbeats after this time, so that the server times out an activity that hangs. */
    public synchronized void stopAfter(Duration time) {
        end = System.nanoTime() + time.toNanos();
    }

    /** Whether the activity must end; its thread has been interrupted. */
    public synchronized boolean isCancelled() {
        return cancellation != null;
    }

    /**
     * Waits until the thread's key can be read. Without the key, the result could not be encrypted: it would be lost,
     * or the activity would run again. Heartbeats continue meanwhile.
     *
     * @throws InterruptedException if the activity is cancelled or the worker stops
     */
    public void awaitKeys() throws InterruptedException {
        DataConverter converter = PayloadJson.dataConverter(client, info.getWorkflowId());
        boolean isReported = false;
        while (true) {
            try {
                converter.toPayloads("");
                return;
            } catch (KeyStoreException e) {
                if (!isReported) {
                    LOG.warn("the result of {} waits for its key: {}", info.getActivityId(), e.getMessage());
                    isReported = true;
                }
                TimeUnit.NANOSECONDS.sleep(RETRY.toNanos());
            }
        }
    }

    /**
     * Sends the last details for the next attempt, and waits up to five seconds for the server's answer. Waits for
     * unanswered heartbeats first. Otherwise one of them could arrive last, and the server would keep its older
     * details. If a cancellation was requested, {@link #isCancelled} says so afterwards, but the thread is not
     * interrupted.
     */
    public void finish() {
        boolean interrupted = Thread.interrupted();
        try {
            awaitAnswer();
        } catch (InterruptedException e) {
            interrupted = true;
        }
        try {
            RecordActivityTaskHeartbeatResponse answer =
                    send(details.get()).get(LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS);
            if (answer.getCancelRequested()) {
                synchronized (this) {
                    cancellation = new ActivityCanceledException(info);
                }
            }
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("the last heartbeat of {} did not arrive", info.getActivityId());
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits up to five seconds for unanswered heartbeats. No new heartbeat starts after this call. */
    private synchronized void awaitAnswer() throws InterruptedException {
        over = true;
        long end = System.nanoTime() + LONGEST_ANSWER.toNanos();
        for (long left = end - System.nanoTime(); unanswered > 0 && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Stops the heartbeats, and clears an interruption that they caused. */
    @Override
    public synchronized void close() {
        over = true;
        ticks.cancel(false);
        ALIVE.decrementAndGet();
        if (cancellation != null) {
            Thread.interrupted();
        }
    }
}
