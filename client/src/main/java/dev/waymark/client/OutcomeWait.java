package dev.waymark.client;

import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.ProblemType;
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
    private final ClientContext context;
    private final OutcomeWaiter outcomes;
    private final String thread;
    private final WaitDeadline deadline;
    private final Supplier<Awaited> opening;
    private UnaryOperator<AgentResult> check = result -> result;
    private Optional<String> recorded = Optional.empty();
    /** Empty until the wait has been opened, and after its end. */
    private Optional<TurnReading> reading = Optional.empty();

    /** @param opening determines what to wait for */
    OutcomeWait(
            ClientContext context,
            OutcomeWaiter outcomes,
            String thread,
            WaitDeadline deadline,
            Supplier<Awaited> opening) {
        this.context = context;
        this.outcomes = outcomes;
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
        Awaited.Coming coming = (Awaited.Coming) next.get();
        end();
        reading = Optional.of(outcomes.read(thread, coming, deadline));
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
        Optional<TurnReading> ended = reading;
        reading = Optional.empty();
        return ended.map(TurnReading::end).orElse(true);
    }
}
