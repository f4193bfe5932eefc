package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How a new thread continues a closed one, from its final state.
 *
 * <p>The new thread does not wait for anything that the old one was doing. The model is called again, an unclaimed call
 * is dispatched again, and a claimed call may have taken effect. Questions, approvals and queued messages remain. Calls
 * are handled according to the agent's definition once it is known.
 *
 * @param id identifies this resumption in the new thread
 * @param agent the agent to continue with; by default, the recorded one
 * @param answer the answer to the first open question, or a message if no question is open
 * @param once whether the new thread closes when its turn ends
 * @param session the id that idempotency keys of the thread's calls are derived from, if it is not the new thread's own
 *     id
 * @param context the new thread's context for tools; by default, the recorded one
 * @param fileCalls what may happen to the open calls without a decision in the new thread
 */
public record Resumption(
        String id,
        Optional<String> agent,
        Optional<String> answer,
        Optional<Integer> maxIterations,
        boolean once,
        Optional<String> session,
        Optional<Json> context,
        FileCalls fileCalls) {
    public Resumption {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(fileCalls, "fileCalls");
    }

    /** A resumption of a conversation whose calls are trusted. */
    public Resumption(
            String id,
            Optional<String> agent,
            Optional<String> answer,
            Optional<Integer> maxIterations,
            boolean once,
            Optional<String> session,
            Optional<Json> context) {
        this(id, agent, answer, maxIterations, once, session, context, FileCalls.CONTINUE);
    }

    /** A resumption with the recorded context. */
    public Resumption(
            String id,
            Optional<String> agent,
            Optional<String> answer,
            Optional<Integer> maxIterations,
            boolean once,
            Optional<String> session) {
        this(id, agent, answer, maxIterations, once, session, Optional.empty());
    }

    /** A copy for a conversation that comes from a file. */
    public Resumption withFileCalls(FileCalls allowed) {
        return new Resumption(id, agent, answer, maxIterations, once, session, context, allowed);
    }

    /** Why the answer cannot be used in this state; empty if it can. */
    public Optional<Problem> refusal(Conversation over) {
        if (answer.isEmpty() || !over.isInterrupted() || !over.questions().isEmpty()) {
            return Optional.empty();
        }
        String decidable = over.waitingCalls().stream()
                .filter(call -> call.status() != Call.Status.DELEGATED)
                .map(Call::id)
                .collect(Collectors.joining(", "));
        return Optional.of(new Problem(
                ProblemType.NOT_FOUND,
                decidable.isEmpty()
                        ? "no question is open: the subagent's question ended with its thread"
                        : "no question is open, but these calls wait for a decision: " + decidable));
    }
}
