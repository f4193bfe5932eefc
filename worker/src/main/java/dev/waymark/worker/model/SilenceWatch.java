package dev.waymark.worker.model;

import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.ProviderFailures;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a model call whose reply has not grown for too long. This works with every provider: the calling thread is
 * interrupted, as for a cancellation, and the provider closes the connection. Events that only keep a connection open
 * do not count as growth. An instance serves one call.
 */
public final class SilenceWatch implements ReplyListener {
    private static final Logger LOG = LoggerFactory.getLogger(SilenceWatch.class);
    private static final ScheduledThreadPoolExecutor CLOCK = clock();

    private final ReplyListener listener;
    private final Duration most;
    private final BooleanSupplier cancelled;
    private final Thread caller = Thread.currentThread();
    private volatile long grownAt;
    private ScheduledFuture<?> check;
    private boolean expired;
    private boolean over;

    private SilenceWatch(ReplyListener listener, Duration most, BooleanSupplier cancelled) {
        this.listener = listener;
        this.most = most;
        this.cancelled = cancelled;
        this.grownAt = System.nanoTime();
        this.check = CLOCK.schedule(this::check, most.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * A clock that forgets the check of a finished call at once. A silence limit may be long, so such checks would pile
     * up.
     */
    private static ScheduledThreadPoolExecutor clock() {
        ScheduledThreadPoolExecutor clock =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("silence of models"));
        clock.setRemoveOnCancelPolicy(true);
        return clock;
    }

    /**
     * Calls the provider in the current thread.
     *
     * @param most the longest time for which the reply may stay the same
     * @param cancelled whether the call has been cancelled; the thread is then interrupted, too
     * @throws ModelFailure also if the model was silent for too long, or if the provider has a bug: it threw anything
     *     else, or returned null
     */
    public static Reply ask(
            ModelProvider provider,
            ModelRequest request,
            ReplyListener listener,
            Duration most,
            BooleanSupplier cancelled)
            throws ModelFailure, InterruptedException {
        SilenceWatch watch = new SilenceWatch(listener, most, cancelled);
        try {
            Reply reply = reply(provider, request, watch);
            if (reply == null) {
                throw bug(provider, "returned null");
            }
            return reply;
        } catch (InterruptedException e) {
            if (watch.hasExpired() && !cancelled.getAsBoolean()) {
                throw ProviderFailures.MODEL_SILENT.failure("the model sent nothing of its reply for " + words(most)
                        + ". For a model that needs longer, raise `silence` of the agent");
            }
            throw e;
        } finally {
            watch.end();
        }
    }

    /** Only {@link ModelFailure} says whether a retry may help, so nothing else that is thrown is retried. */
    private static Reply reply(ModelProvider provider, ModelRequest request, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        try {
            return provider.reply(request, listener);
        } catch (ModelFailure | InterruptedException | VirtualMachineError e) {
            throw e;
        } catch (Throwable e) { // Kotlin also throws undeclared checked exceptions.
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof InterruptedException) {
                    // A provider may wrap the interrupt of a cancellation, or of a worker that closes.
                    throw (InterruptedException) new InterruptedException("interrupted").initCause(e);
                }
            }
            LOG.error(
                    "{} threw something other than a ModelFailure",
                    provider.getClass().getName(),
                    e);
            throw bug(provider, "threw " + e);
        }
    }

    private static ModelFailure bug(ModelProvider provider, String what) {
        return ProviderFailures.PROVIDER_BUG.failure(
                "the model provider " + provider.getClass().getName() + " " + what
                        + ". A provider returns a reply, or throws a ModelFailure, which says whether a retry may help");
    }

    private static String words(Duration time) {
        return time.toMillis() % 1_000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    private synchronized void check() {
        if (over) {
            return;
        }
        long left = grownAt + most.toNanos() - System.nanoTime();
        if (left > 0) {
            check = CLOCK.schedule(this::check, left, TimeUnit.NANOSECONDS);
            return;
        }
        expired = true;
        caller.interrupt();
    }

    private synchronized boolean hasExpired() {
        return expired;
    }

    /** Stops the check and clears its interrupt. The interrupt of a cancellation stays. */
    private synchronized void end() {
        over = true;
        check.cancel(false);
        if (expired) {
            Thread.interrupted();
            if (cancelled.getAsBoolean()) {
                caller.interrupt();
            }
        }
    }

    @Override
    public void words(String piece) {
        if (!piece.isEmpty()) {
            grownAt = System.nanoTime();
        }
        listener.words(piece);
    }

    @Override
    public void reasoning(String piece) {
        if (!piece.isEmpty()) {
            grownAt = System.nanoTime();
        }
        listener.reasoning(piece);
    }

    @Override
    public void progress() {
        grownAt = System.nanoTime();
        listener.progress();
    }

    @Override
    public void usage(Usage soFar) {
        listener.usage(soFar);
    }
}
