package dev.waymark.conversation;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * How a thread starts from the state of another one, which may continue independently.
 *
 * <p>The new thread's calls have their own idempotency keys. The new thread knows the effects of the other thread's
 * calls so far: if a model repeats such a call, it gets the recorded result. An open call with side effects may run in
 * the other thread, so its outcome is unknown here and it never runs.
 *
 * @param id identifies this fork in the new thread
 * @param message the first message; without one, nothing runs until the thread gets a message or an answer
 */
public record ForkRequest(String id, Optional<String> message) {
    public ForkRequest {
        Objects.requireNonNull(id, "id");
    }

    /** The initial state of a thread forked from this one. */
    public Conversation of(Conversation ancestor, Instant at) {
        return Evolution.fork(ancestor, this, at);
    }
}
