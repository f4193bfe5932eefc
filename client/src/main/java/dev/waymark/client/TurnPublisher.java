package dev.waymark.client;

import dev.waymark.client.connection.WaitThreads;
import dev.waymark.connect.DaemonThreads;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** Sends the request for each subscriber, and waits for its turn without a Java thread of its own. */
final class TurnPublisher implements Flow.Publisher<ThreadEvent> {
    /** Sending blocks, so only this many requests of all publishers are sent at a time. */
    private static final int MOST_SENDING = 16;

    private static final ThreadPoolExecutor SENDERS = senders();

    private final Function<Consumer<ThreadEvent>, TurnHandle> request;
    private final Consumer<ThreadEvent> other;

    /**
     * @param request sends a request whose outcome is awaited with a listener
     * @param other also gets the events
     */
    TurnPublisher(Function<Consumer<ThreadEvent>, TurnHandle> request, Consumer<ThreadEvent> other) {
        this.request = request;
        this.other = other;
    }

    private static ThreadPoolExecutor senders() {
        ThreadPoolExecutor senders = new ThreadPoolExecutor(
                MOST_SENDING,
                MOST_SENDING,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                DaemonThreads.named("waymark-send"));
        senders.allowCoreThreadTimeOut(true);
        return senders;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ThreadEvent> subscriber) {
        Delivery delivery = new Delivery(subscriber);
        subscriber.onSubscribe(delivery);
        delivery.begin();
    }

    /** Hands events to one subscriber, one after the other, as many as it has requested. */
    private final class Delivery implements Flow.Subscription {
        private final Flow.Subscriber<? super ThreadEvent> subscriber;
        private final Executor threads = WaitThreads.forCaller();
        private final TurnEvents events = new TurnEvents(other, this::deliver);

        /** Guarded by {@code this}, as are the following fields. */
        private long demand;

        private boolean delivering;
        private boolean finished;
        private Optional<CompletableFuture<AgentResult>> outcome = Optional.empty();

        Delivery(Flow.Subscriber<? super ThreadEvent> subscriber) {
            this.subscriber = subscriber;
        }

        void begin() {
            ClassLoader caller = Thread.currentThread().getContextClassLoader();
            SENDERS.execute(() -> {
                Thread.currentThread().setContextClassLoader(caller);
                send();
            });
        }

        private void send() {
            if (events.isClosed()) {
                return;
            }
            try {
                await(request.apply(events));
            } catch (RuntimeException | Error e) {
                events.failed(e);
            }
        }

        private void await(TurnHandle turn) {
            CompletableFuture<AgentResult> future = turn.future();
            synchronized (this) {
                outcome = Optional.of(future);
            }
            if (events.isClosed()) {
                future.cancel(true);
            }
            future.whenComplete((result, failure) -> {
                if (failure == null) {
                    events.ended(result);
                } else {
                    events.failed(failure);
                }
            });
        }

        @Override
        public void request(long more) {
            if (more <= 0) {
                events.failed(new IllegalArgumentException("a subscriber must request at least one event: " + more));
                stop();
                return;
            }
            synchronized (this) {
                demand = demand + more < 0 ? Long.MAX_VALUE : demand + more;
            }
            deliver();
        }

        /** Ends the wait, but not the turn. */
        @Override
        public void cancel() {
            synchronized (this) {
                finished = true;
            }
            stop();
        }

        private void stop() {
            events.close();
            Optional<CompletableFuture<AgentResult>> waiting;
            synchronized (this) {
                waiting = outcome;
            }
            waiting.ifPresent(future -> future.cancel(true));
        }

        private void deliver() {
            synchronized (this) {
                if (delivering || finished) {
                    return;
                }
                delivering = true;
            }
            threads.execute(() -> WaitThreads.blocking(this::deliverAll));
        }

        private void deliverAll() {
            try {
                for (Optional<ThreadEvent> next = next(); next.isPresent(); next = next()) {
                    subscriber.onNext(next.get());
                }
            } catch (RuntimeException e) {
                cancel();
                throw e;
            }
        }

        /** Returns the next event to deliver. Delivery ends with the last one that is there and requested. */
        private Optional<ThreadEvent> next() {
            boolean isLast;
            synchronized (this) {
                isLast = !finished && events.isExhausted();
                Optional<ThreadEvent> next = finished || isLast || demand == 0 ? Optional.empty() : events.poll();
                if (next.isPresent()) {
                    demand = demand == Long.MAX_VALUE ? demand : demand - 1;
                    return next;
                }
                delivering = false;
                finished |= isLast;
            }
            if (isLast) {
                events.failure().ifPresentOrElse(subscriber::onError, subscriber::onComplete);
            }
            return Optional.empty();
        }
    }
}
