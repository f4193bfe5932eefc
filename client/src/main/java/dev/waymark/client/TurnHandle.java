package dev.waymark.client;

import dev.waymark.client.failure.WaymarkException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A request that was sent to a thread, and the wait for its outcome. The request is durable, or the thread has accepted
 * it, before a caller gets the handle: a caller that does not wait loses nothing, and {@link AgentClient#turn} gives
 * any process another handle. Thread-safe.
 *
 * <pre>{@code
 * TurnHandle turn = client.run(Prompt.of("assistant", "Book a table").withThread("trip"));
 * System.out.println(turn.thread());    // at once
 * AgentResult result = turn.await();    // when the turn has ended or waits for a person
 * }</pre>
 *
 * <p>{@link #future} does not block for the outcome.
 */
public final class TurnHandle {
    private final String thread;
    private final String runId;
    private final Supplier<OutcomeWait> waits;
    private final Delivery delivery;
    private final Optional<Integer> fact;
    private final Optional<ForkPoint> forkPoint;

    private TurnHandle(
            String thread,
            String runId,
            Supplier<OutcomeWait> waits,
            Delivery delivery,
            Optional<Integer> fact,
            Optional<ForkPoint> forkPoint) {
        this.thread = thread;
        this.runId = runId;
        this.waits = waits;
        this.delivery = delivery;
        this.fact = fact;
        this.forkPoint = forkPoint;
    }

    /** What a request has changed. */
    public enum Delivery {
        /** The request was delivered, probably for the first time. */
        NEW,
        /** An earlier request with the same id had the same content. This one changed nothing, and has its outcome. */
        REPEATED,
        /** The turn to resume was complete already. Nothing was started, and the outcome is that of this turn. */
        NOT_NEEDED
    }

    /**
     * Where a fork began.
     *
     * @param at the event of the other thread that was copied, as {@code RUNID/eN}
     * @param status the status of the new thread's turn; {@code stopped} if the other thread was in the middle of a
     * turn
     */
    public record ForkPoint(String at, String status) {}

    /**
     * @param runId the run that accepted the request
     * @param waits begins a wait for the outcome
     */
    static TurnHandle of(String thread, String runId, Supplier<OutcomeWait> waits) {
        return new TurnHandle(thread, runId, waits, Delivery.NEW, Optional.empty(), Optional.empty());
    }

    TurnHandle with(Delivery how) {
        return new TurnHandle(thread, runId, waits, how, fact, forkPoint);
    }

    TurnHandle withFact(int number) {
        return new TurnHandle(thread, runId, waits, delivery, Optional.of(number), forkPoint);
    }

    TurnHandle with(ForkPoint from) {
        return new TurnHandle(thread, runId, waits, delivery, fact, Optional.of(from));
    }

    /** Returns a handle that checks the outcome before the caller gets it. */
    TurnHandle checking(UnaryOperator<AgentResult> check) {
        return new TurnHandle(thread, runId, () -> waits.get().checking(check), delivery, fact, forkPoint);
    }

    /** Returns the handle of a message that the thread has recorded. */
    TurnHandle recording(String message) {
        return new TurnHandle(thread, runId, () -> waits.get().recording(message), delivery, fact, forkPoint);
    }

    /** The id of the thread, which is all that another process needs to continue it. */
    public String thread() {
        return thread;
    }

    /** The id of the run that received the request. Empty if nothing was started from a checkpoint. */
    public String runId() {
        return runId;
    }

    /** What the request has changed. */
    public Delivery delivery() {
        return delivery;
    }

    /** The number of the fact that the thread recorded for a message that it has accepted. */
    public Optional<Integer> fact() {
        return fact;
    }

    /** Where a fork began; empty for other requests. */
    public Optional<ForkPoint> forkPoint() {
        return forkPoint;
    }

    /**
     * Waits until the turn has ended or waits for a person. The callbacks and the listener of the client run in the Java
     * thread that waits. Each call is a wait of its own.
     *
     * @throws WaymarkException.TimedOut if the client has a timeout, which began with the request; the turn continues
     * @throws WaymarkException.WaitInterrupted if the Java thread is interrupted; it stays so, and the turn continues
     * @throws WaymarkException.NoWorker if there is no worker to take the work
     * @throws WaymarkException.ServerUnreachable if the server does not answer for a while
     */
    public AgentResult await() {
        return waits.get().await();
    }

    /**
     * Waits like {@link #await}, but blocks no Java thread: all such waits of the process share a few threads. The
     * callbacks and the listener of the client, and functions that are added to the future, run in one of them, never
     * two of a wait at once. While a function takes long, another thread replaces its thread, so that it delays no
     * other wait.
     *
     * <p>The future fails with the exceptions that {@link #await} throws. Cancelling it, or completing it otherwise,
     * ends the wait but not the turn, and the callbacks are no longer called. Each call is a wait of its own.
     *
     * <pre>{@code
     * client.run(prompt).future().thenAccept(result -> show(AgentResult.assertComplete(result).text()));
     * }</pre>
     */
    public CompletableFuture<AgentResult> future() {
        return waits.get().future();
    }

    /** Determines what to wait for. */
    Awaited open() {
        return waits.get().open();
    }
}
