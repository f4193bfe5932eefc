package dev.waymark.conversation;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How a thread goes on whose last run is over: in a new thread, which begins with the state that the old one ended with.
 *
 * <p>Nothing that the old thread had under way is awaited any more, so all of it is taken up: the model is asked again,
 * a call that was never claimed is handed out again, and one that was claimed may have taken effect. Questions,
 * approvals and queued messages stay as they are. Calls are judged by the terms of the agent, and where these are not
 * known, only once they are.
 *
 * @param id by which the new thread knows that it came of this resumption
 * @param agent the agent that goes on, if it is not to be the one that is recorded
 * @param answer to the first open question; a message where none is open
 * @param once whether the new thread closes when its turn ends
 * @param session the id under which other systems know the thread's calls, where it is not the new thread's own
 * @param context what the new thread carries for its tools, if it is not to be what is recorded
 */
public record Resumption(
        String id,
        Optional<String> agent,
        Optional<String> answer,
        Optional<Integer> maxIterations,
        boolean once,
        Optional<String> session,
        Optional<Json> context) {
    public Resumption {
        Objects.requireNonNull(id, "id");
    }

    /** With the context that is recorded. */
    public Resumption(
            String id,
            Optional<String> agent,
            Optional<String> answer,
            Optional<Integer> maxIterations,
            boolean once,
            Optional<String> session) {
        this(id, agent, answer, maxIterations, once, session, Optional.empty());
    }

    /** The state that a thread begins with that goes on from this one. */
    public Conversation of(Conversation over, Instant at) {
        return Evolution.resume(over, this, at);
    }

    /** Why the answer can't be used as things stand, or empty when it can. */
    public Optional<Problem> refusal(Conversation over) {
        if (answer.isEmpty() || !over.isInterrupted() || !over.questions().isEmpty()) {
            return Optional.empty();
        }
        String decidable = over.waitingCalls().stream()
                .filter(call -> call.status() != Call.Status.DELEGATED)
                .map(Call::id)
                .collect(Collectors.joining(", "));
        return Optional.of(new Problem(
                Problem.NOT_FOUND,
                decidable.isEmpty()
                        ? "no question is open: what a subagent asked ended with its thread"
                        : "no question is open, but these calls wait for a decision: " + decidable));
    }
}
