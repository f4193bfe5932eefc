package dev.waymark.conversation;

import dev.waymark.conversation.message.Message;
import java.util.Objects;
import java.util.Optional;

/**
 * How a thread starts from the state of another thread, which may continue independently.
 *
 * <p>The new thread's calls have their own idempotency keys. The new thread knows the effects of the other thread's
 * calls so far: if a model repeats such a call, the model gets the recorded result. An open call with side effects may
 * run in the other thread, so the new thread treats its outcome as unknown and never runs it.
 *
 * @param id identifies this fork in the new thread
 * @param message the first message; without one, nothing runs until a person sends a message, an answer or a decision
 * @param untrusted whether the message has words of others
 */
public record ForkRequest(String id, Optional<Message> message, boolean untrusted) {
    public ForkRequest {
        Objects.requireNonNull(id, "id");
    }

    public ForkRequest(String id, Optional<Message> message) {
        this(id, message, false);
    }
}
