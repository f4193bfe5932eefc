package dev.waymark.client;

import dev.waymark.client.failure.WaymarkException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

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
 */
public final class TurnHandle {
    private final ClientContext context;
    private final String thread;
    private final String runId;
    private final Supplier<AgentResult> outcome;
    private final Delivery delivery;
    private final Optional<Integer> fact;
    private final Optional<ForkPoint> forkPoint;

    private TurnHandle(Edit edit) {
        this.context = edit.context;
        this.thread = edit.thread;
        this.runId = edit.runId;
        this.outcome = edit.outcome;
        this.delivery = edit.delivery;
        this.fact = edit.fact;
        this.forkPoint = edit.forkPoint;
    }

    /** What a request has changed. */
    public enum Delivery {
        /** The request was delivered, as far as is known for the first time. */
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
     * @param outcome waits for the outcome in the calling Java thread
     */
    static TurnHandle of(ClientContext context, String thread, String runId, Supplier<AgentResult> outcome) {
        return new TurnHandle(new Edit(context, thread, runId, outcome));
    }

    TurnHandle with(Consumer<Edit> change) {
        Edit edit = new Edit(context, thread, runId, outcome);
        edit.delivery = delivery;
        edit.fact = fact;
        edit.forkPoint = forkPoint;
        change.accept(edit);
        return new TurnHandle(edit);
    }

    /** A handle that is being made. */
    static final class Edit {
        private final ClientContext context;
        private final String thread;
        private final String runId;
        Supplier<AgentResult> outcome;
        Delivery delivery = Delivery.NEW;
        Optional<Integer> fact = Optional.empty();
        Optional<ForkPoint> forkPoint = Optional.empty();

        private Edit(ClientContext context, String thread, String runId, Supplier<AgentResult> outcome) {
            this.context = context;
            this.thread = thread;
            this.runId = runId;
            this.outcome = outcome;
        }
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
     * Waits until the turn has ended or waits for a person. The client's callbacks and its watcher run in the Java thread
     * that waits. Each call is a wait of its own.
     *
     * @throws WaymarkException.TimedOut if the client has a timeout, which began with the request; the turn continues
     * @throws WaymarkException.NoWorker if no worker takes the work within ten seconds
     * @throws WaymarkException.ServerUnreachable if the server does not answer for a while
     */
    public AgentResult await() {
        return context.translated(outcome);
    }
}
