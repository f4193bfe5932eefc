package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.ReadingPace;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * One wait for the outcome of a turn, in rounds that read what is new. The rounds run in a Java thread of the caller,
 * or in the shared {@link WaitThreads}.
 */
final class OutcomeWait {
    /** For shorter pauses, a long poll that may end them is not worth its cost. */
    private static final long SHORT_MILLIS = 500;

    private final ClientContext context;
    private final OutcomeWaiter outcomes;
    private final OutcomeSaver saves;
    private final String thread;
    private final WaitDeadline deadline;
    private final Supplier<Awaited> opening;
    private UnaryOperator<AgentResult> check = result -> result;
    private Optional<String> recorded = Optional.empty();
    /** Empty until the wait has been opened, and after its end. */
    private Optional<Reading> reading = Optional.empty();

    /** @param opening determines what to wait for */
    OutcomeWait(
            ClientContext context,
            OutcomeWaiter outcomes,
            OutcomeSaver saves,
            String thread,
            WaitDeadline deadline,
            Supplier<Awaited> opening) {
        this.context = context;
        this.outcomes = outcomes;
        this.saves = saves;
        this.thread = thread;
        this.deadline = deadline;
        this.opening = opening;
    }

    /** Checks the outcome before the caller gets it. */
    OutcomeWait checking(UnaryOperator<AgentResult> how) {
        check = how;
        return this;
    }

    /** @param message the name of the message that the thread has recorded */
    OutcomeWait recording(String message) {
        recorded = Optional.of(message);
        return this;
    }

    Awaited open() {
        return opening.get();
    }

    /** Waits in the calling Java thread. */
    AgentResult await() {
        return translated(() -> {
            try {
                Optional<AgentResult> outcome = round();
                while (outcome.isEmpty()) {
                    Sleeper.until(pause());
                    outcome = round();
                }
                return ended(outcome.get());
            } finally {
                end();
            }
        });
    }

    /** Waits without blocking a Java thread. Ends the wait if the future is completed otherwise. */
    CompletableFuture<AgentResult> future() {
        CompletableFuture<AgentResult> outcome = new CompletableFuture<>();
        Executor threads = WaitThreads.forCaller();
        threads.execute(() -> goOn(outcome, threads));
        return outcome;
    }

    private void goOn(CompletableFuture<AgentResult> outcome, Executor threads) {
        try {
            Optional<AgentResult> reached = outcome.isDone() ? Optional.empty() : translated(this::round);
            if (reached.isEmpty() && !outcome.isDone()) {
                CompletableFuture.anyOf(pause(), outcome)
                        .handle((woken, failure) -> true)
                        .thenRunAsync(() -> goOn(outcome, threads), threads)
                        .whenComplete((ran, failure) -> {
                            if (failure != null) {
                                fail(outcome, failure);
                            }
                        });
                return;
            }
            Optional<AgentResult> ended = reached.map(this::ended);
            end();
            // Functions that the caller has added to the future may take long.
            ended.ifPresent(result -> WaitThreads.blocking(() -> outcome.complete(result)));
        } catch (Throwable e) {
            fail(outcome, e);
        }
    }

    private <T> T translated(Supplier<T> task) {
        try {
            return context.translated(task);
        } catch (WaymarkException e) {
            if (recorded.isPresent() && e.type().equals(ProblemType.UNKNOWN_RULES)) {
                throw unreadable(recorded.get(), thread, e);
            }
            throw e;
        }
    }

    static WaymarkException unreadable(String recorded, String thread, RuntimeException why) {
        return new WaymarkException.OutcomeUnreadable(
                "the " + recorded + " was recorded in " + thread + ", but its outcome can't be read here: "
                        + why.getMessage(),
                thread,
                why);
    }

    private void fail(CompletableFuture<AgentResult> outcome, Throwable failure) {
        try {
            end();
        } finally {
            try {
                WaitThreads.blocking(() -> outcome.completeExceptionally(failure));
            } finally {
                // In case blocking() has failed, for example because no thread could be started.
                outcome.completeExceptionally(failure);
            }
        }
    }

    /** Reads new moments, and returns the outcome if it is there. */
    private Optional<AgentResult> round() {
        Optional<Awaited> next = reading.isPresent() ? reading.get().look() : Optional.of(open());
        if (next.isEmpty()) {
            return Optional.empty();
        }
        if (next.get() instanceof Awaited.Known known) {
            return Optional.of(WaitThreads.blocking(() -> check.apply(known.result())));
        }
        end();
        WaitThreads.blocking(() -> context.tell(new ThreadEvent.WaitBegan(thread)));
        reading = Optional.of(new Reading((Awaited.Coming) next.get()));
        return Optional.empty();
    }

    private CompletableFuture<?> pause() {
        return reading.orElseThrow().pause();
    }

    /** Ends the wait, and notes in the result if its newest step is not saved. */
    private AgentResult ended(AgentResult result) {
        return OutcomeSaver.saved(result, end());
    }

    private boolean end() {
        Optional<Reading> ended = reading;
        reading = Optional.empty();
        return ended.map(Reading::end).orElse(true);
    }

    /**
     * Reads the moments of the thread until the awaited turn has its outcome. Reports them to the listener, the saver
     * and the callbacks of the caller. Used by one Java thread at a time.
     */
    private final class Reading {
        private final OutcomeDetector waiting;
        private final MomentStream feed;
        private final CallbackDispatcher dispatcher = new CallbackDispatcher(context, thread);
        private final WaitNotifier notifier;
        private final Optional<OutcomeSaver.Following> saving;
        private final ReadingPace pace = new ReadingPace();

        private WaitPolicy policy = policy();
        private boolean hasGathered;
        private boolean hasRead;

        Reading(Awaited.Coming coming) {
            waiting = coming.waiting();
            saving = saves.following(thread);
            feed = context.moments(thread, coming.runId());
            notifier = new WaitNotifier(context, thread, waiting);
        }

        private WaitPolicy policy() {
            return new WaitPolicy(context.requests(), thread, deadline);
        }

        /**
         * Reads new moments. Returns the outcome if it is there, or what to wait for instead; otherwise empty. Waits
         * only for the caller's code, not for events.
         */
        Optional<Awaited> look() {
            // After the deadline, returns an outcome that is already there, without waiting for one.
            List<Moment> next = !hasRead && deadline.isPast() ? WaitThreads.blocking(() -> feed.next(0)) : feed.take();
            hasRead |= !next.isEmpty();
            if (isObserved()) {
                WaitThreads.blocking(() -> {
                    saving.ifPresent(follower -> follower.follow(next, feed.run()));
                    notifier.tell(next);
                });
            }
            Optional<Conversation> newest = Optional.empty();
            Optional<OutcomeDetector.Reached> reached = Optional.empty();
            for (Moment moment : next) {
                newest = Optional.of(moment.state());
                reached = waiting.observe(moment);
                Optional<Awaited> outcome = outcome(reached);
                if (outcome.isPresent()) {
                    return outcome;
                }
            }
            if (feed.wasReset()) {
                // The awaited turn may not be in this history. The newest turn is the closest result.
                return Optional.of(WaitThreads.blocking(
                        () -> outcomes.turn(thread, deadline).open()));
            }
            if (feed.isClosed()) {
                Conversation state = feed.run().expectedState().orElseThrow(() -> Requests.noSuchThread(thread));
                return Optional.of(
                        new Awaited.Known(AgentResult.of(thread, feed.run().runId(), state, state.turn())));
            }
            // Only requests of the newest state are passed on, because requests of earlier states may already be
            // decided.
            Optional<Conversation> asking = newest.filter(waiting::isOn).filter(dispatcher::isToBeAsked);
            if (asking.isEmpty()) {
                notifier.tell(policy.check(feed));
                return Optional.empty();
            }
            WaitThreads.blocking(() -> dispatcher.attend(asking.get()));
            // The time that the callback took does not count as time without a worker.
            policy = policy();
            return outcome(reached);
        }

        private boolean isObserved() {
            return context.followsSteps() || saving.isPresent();
        }

        private Optional<Awaited> outcome(Optional<OutcomeDetector.Reached> reached) {
            return reached.filter(dispatcher::isOver).map(found -> new Awaited.Known(found.result(thread)));
        }

        /** Completes when there may be something new. */
        CompletableFuture<?> pause() {
            long gathering = isObserved() || hasGathered ? 0 : Math.min(pace.millis(), policy.millis());
            hasGathered = gathering > 0;
            return gathering > 0
                    ? Sleeper.first(
                            gathering, gathering < SHORT_MILLIS ? new CompletableFuture<>() : feed.askForTheEnd())
                    : Sleeper.first(notifier.millis(policy.millis()), feed.ask(), policy.answer(), notifier.ask());
        }

        /** Ends the reading. Waits for the saver, and returns whether the newest step is saved if there is one. */
        boolean end() {
            feed.close();
            notifier.cancel();
            return WaitThreads.blocking(() -> {
                try {
                    return saving.map(OutcomeSaver.Following::end).orElse(true);
                } finally {
                    context.tell(new ThreadEvent.WaitEnded(thread));
                }
            });
        }
    }
}
