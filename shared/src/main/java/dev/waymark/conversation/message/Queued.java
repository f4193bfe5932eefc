package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A message that waits for the next model call, with the schema for its turn's final reply if it has one.
 *
 * @param untrusted whether its sender says that it has words of others
 */
public record Queued(
        Optional<String> id,
        Message message,
        Instant at,
        Optional<Json> schema,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted) {
    public Queued {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(at, "at");
    }

    public Queued(Optional<String> id, Message message, Instant at) {
        this(id, message, at, Optional.empty(), false);
    }
}
