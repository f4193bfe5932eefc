package dev.waymark.conversation.state;

import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * What a thread stores about the thread or checkpoint that it continues.
 *
 * @param session the id that idempotency keys of the thread's calls are derived from, if it is not the thread's own id:
 *     a call that runs again must keep its key
 * @param extras values from a checkpoint that no rule uses, kept for later checkpoints
 */
public record Origin(Optional<String> session, Optional<Json> extras) {

    public static Origin ofSession(String id) {
        return new Origin(Optional.of(id), Optional.empty());
    }
}
