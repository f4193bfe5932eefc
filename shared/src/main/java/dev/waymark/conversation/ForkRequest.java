package dev.waymark.conversation;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * How a thread begins with the state of another one that may go on without it.
 *
 * <p>Its calls are its own, with idempotency keys of their own. What the other one's calls had done by then it knows: a
 * model that asks for the same again gets the result that is recorded. A call with side effects that was open may run
 * in the other thread, so it is unknown here, and is never run.
 *
 * @param id by which the new thread knows that it came of this fork
 * @param message what is said next; without one, nothing runs until somebody says or answers something
 */
public record ForkRequest(String id, Optional<String> message) {
    public ForkRequest {
        Objects.requireNonNull(id, "id");
    }

    /** The state that a thread begins with that is forked from this one. */
    public Conversation of(Conversation ancestor, Instant at) {
        return Evolution.fork(ancestor, this, at);
    }
}
