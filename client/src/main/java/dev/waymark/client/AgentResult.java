package dev.waymark.client;

import dev.waymark.annotation.Internal;
import dev.waymark.checkpoint.CheckpointMessages;
import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.util.List;
import java.util.Optional;

/**
 * The state of a turn that has ended or waits for a person.
 *
 * <p>Every result has the conversation so far, and a checkpoint of it. {@code toString} has neither, so that logs do not
 * contain what people and models said.
 *
 * <pre>{@code
 * AgentResult result = client.prompt("assistant", "Plan my project.").await();
 * while (result instanceof AgentResult.Interrupted asked) {
 *     result = client.answer(asked.thread(), ask(asked.question())).await();
 * }
 * System.out.println(AgentResult.assertComplete(result).text());
 * }</pre>
 */
public sealed interface AgentResult {
    /** The conversation, the usage, and the other data that every result has. */
    Details details();

    /** {@code complete}, {@code interrupted}, {@code failed}, and so on, as printed and stored. */
    String status();

    /** Why the turn failed, was stopped or cancelled, or ended at a limit; otherwise empty. */
    Optional<Problem> problem();

    /** The id of the thread, which is all that a caller needs to continue it. */
    default String thread() {
        return details().thread();
    }

    /** The id of the Temporal run in which the turn reached this state. */
    default String runId() {
        return details().runId();
    }

    /** The conversation, with the results of calls that have ended. */
    default List<Message> messages() {
        return details().messages();
    }

    /** The tokens that this turn has used. */
    default Usage usage() {
        return details().usage();
    }

    /** The cost of the thread so far, if its model has a price. */
    default Optional<Usd> cost() {
        return details().cost();
    }

    /** The number of model calls in this turn. */
    default int iterations() {
        return details().iterations();
    }

    /** The number of queued messages, which no turn has consumed yet. */
    default int queued() {
        return details().queued();
    }

    /** Whether the thread was started for one turn only and closes after it, so that it accepts no more messages. */
    default boolean once() {
        return details().once();
    }

    /** A checkpoint of this state, in the {@code runner} format. */
    default Json checkpoint() {
        return details().checkpoint();
    }

    /**
     * Whether the client has a saver that does not have the newest step: it failed, or took too long. The step is in the
     * server's history, and the next client that saves the thread saves it.
     */
    default boolean unsaved() {
        return details().unsaved();
    }

    /** This result with other details. */
    AgentResult withDetails(Details other);

    /**
     * The data that results of all kinds have.
     *
     * @param turn the number of the turn
     * @param usage the tokens that this turn has used
     * @param cost the cost of the thread so far
     * @param iterations the number of model calls in this turn
     * @param once whether the thread was started for one turn only and closes after it
     * @param unsaved whether the client has a saver that does not have the newest step
     */
    record Details(
            String thread,
            String runId,
            int turn,
            List<Message> messages,
            Usage usage,
            Optional<Usd> cost,
            int iterations,
            int queued,
            boolean once,
            Json checkpoint,
            boolean unsaved) {
        public Details {
            messages = List.copyOf(messages);
        }

        /** A copy that says that a saver does not have the newest step. */
        Details withoutSave() {
            return new Details(thread, runId, turn, messages, usage, cost, iterations, queued, once, checkpoint, true);
        }

        /** The thread and the turn. The conversation is left out, because it may be private. */
        @Override
        public String toString() {
            return "Details[thread=" + thread + ", runId=" + runId + ", turn=" + turn + "]";
        }
    }

    /**
     * The agent has given its final reply.
     *
     * @param structured the reply as JSON, if the prompt has a schema
     */
    record Complete(Details details, String text, Optional<Json> structured) implements AgentResult {
        /**
         * The reply as a record, if the prompt has its schema.
         *
         * @throws WaymarkException.NotComplete with type {@code SchemaMismatch} if the prompt has no schema, or if the
         *     reply does not fit the record; the message names the field
         */
        public <T extends Record> T structured(Class<T> type) {
            return TypedReply.of(this, type);
        }

        @Override
        public String toString() {
            return "Complete[" + details + "]";
        }

        @Override
        public AgentResult withDetails(Details other) {
            return new Complete(other, text, structured);
        }

        @Override
        public String status() {
            return Turn.Status.COMPLETE.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.empty();
        }
    }

    /** The turn cannot continue until a person responds. */
    record Interrupted(Details details, List<PendingItem> pending) implements AgentResult {
        public Interrupted {
            pending = List.copyOf(pending);
        }

        /**
         * The first pending request in call order, worded as a question. A request for approval is worded as a question
         * too.
         */
        public String question() {
            return pending.get(0).words();
        }

        @Override
        public String toString() {
            return "Interrupted[" + details + "]";
        }

        @Override
        public AgentResult withDetails(Details other) {
            return new Interrupted(other, pending);
        }

        @Override
        public String status() {
            return "interrupted";
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.empty();
        }
    }

    /**
     * The reply is incomplete: it was cut at its token limit ({@code ReplyCut}), or has no text ({@code ReplyEmpty}).
     *
     * @param text the text that arrived
     */
    record Cut(Details details, String text, Problem cause) implements AgentResult {
        @Override
        public String toString() {
            return "Cut[" + details + ", " + cause + "]";
        }

        @Override
        public AgentResult withDetails(Details other) {
            return new Cut(other, text, cause);
        }

        @Override
        public String status() {
            return Turn.Status.CUT.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /** The turn failed. The conversation so far is kept. */
    record Failed(Details details, Problem cause) implements AgentResult {
        @Override
        public AgentResult withDetails(Details other) {
            return new Failed(other, cause);
        }

        @Override
        public String status() {
            return Turn.Status.FAILED.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /** The turn reached its maximum number of model calls. A higher limit continues it. */
    record MaxIterations(Details details, Problem cause) implements AgentResult {
        @Override
        public AgentResult withDetails(Details other) {
            return new MaxIterations(other, cause);
        }

        @Override
        public String status() {
            return Turn.Status.MAX_ITERATIONS.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /** The thread has used up its budget. A higher budget continues the turn. */
    record OverBudget(Details details, Problem cause) implements AgentResult {
        @Override
        public AgentResult withDetails(Details other) {
            return new OverBudget(other, cause);
        }

        @Override
        public String status() {
            return Turn.Status.BUDGET.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /** Someone stopped the turn before it was complete. */
    record Stopped(Details details, Problem cause) implements AgentResult {
        @Override
        public AgentResult withDetails(Details other) {
            return new Stopped(other, cause);
        }

        @Override
        public String status() {
            return Turn.Status.STOPPED.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /** Someone cancelled the thread, which ended the turn and closed the thread. */
    record Cancelled(Details details, Problem cause) implements AgentResult {
        @Override
        public AgentResult withDetails(Details other) {
            return new Cancelled(other, cause);
        }

        @Override
        public String status() {
            return Turn.Status.CANCELLED.wireName();
        }

        @Override
        public Optional<Problem> problem() {
            return Optional.of(cause);
        }
    }

    /**
     * Returns the result of a turn in this state. A running turn counts as failed, because its run has ended, unless it
     * waits for a person.
     */
    @Internal
    static AgentResult of(String thread, String runId, Conversation state, Turn turn) {
        Details details = new Details(
                thread,
                runId,
                turn.number(),
                CheckpointMessages.messages(state),
                turn.usage(),
                state.cost(),
                turn.iterations(),
                state.queue().size(),
                state.once(),
                RunnerCheckpoint.of(state, turn),
                false);
        Problem why = turn.problem()
                .orElseGet(() -> new Problem(
                        turn.status().name(), "the turn " + turn.status().wireName()));
        return switch (turn.status()) {
            case COMPLETE -> new Complete(details, turn.text(), turn.structured());
            case CUT -> new Cut(details, turn.text(), why);
            case FAILED -> new Failed(details, why);
            case MAX_ITERATIONS -> new MaxIterations(details, why);
            case BUDGET -> new OverBudget(details, why);
            case STOPPED -> new Stopped(details, why);
            case CANCELLED -> new Cancelled(details, why);
            case RUNNING ->
                state.isInterrupted()
                        ? new Interrupted(details, state.pending(thread))
                        : new Failed(
                                details,
                                new Problem(ProblemType.TERMINATED, "the thread was ended in the middle of a turn"));
            case NONE -> new Failed(details, new Problem(ProblemType.NOT_FOUND, "the thread has had no turn"));
        };
    }

    /** Returns whether the turn waits for a person. */
    static boolean isInterrupted(AgentResult result) {
        return result instanceof Interrupted;
    }

    /**
     * Returns the result if it is complete, for agents that never ask.
     *
     * @throws WaymarkException.NotComplete with type {@code Interrupted} and the message {@code Agent interrupted:
     * QUESTION} if the agent asks, or if the turn failed, was stopped or cancelled, or hit a limit
     */
    static Complete assertComplete(AgentResult result) {
        if (result instanceof Complete complete) {
            return complete;
        }
        Problem problem = result instanceof Interrupted interrupted
                ? new Problem(ProblemType.INTERRUPTED, interrupted.question())
                : result.problem().orElseThrow();
        throw new WaymarkException.NotComplete(
                problem.type(), "Agent " + result.status() + ": " + problem.message(), result.thread());
    }
}
