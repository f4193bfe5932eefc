package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/** A message that waits for the next model call, with the schema for its turn's final reply if it has one. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Queued(
        @JsonProperty("id") Optional<String> id,
        @JsonProperty("message") Message message,
        @JsonProperty("at") Instant at,
        @JsonProperty("schema") Optional<Json> schema) {
    @JsonCreator
    public Queued {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(at, "at");
        id = id == null ? Optional.empty() : id;
        schema = schema == null ? Optional.empty() : schema;
    }

    public Queued(Optional<String> id, Message message, Instant at) {
        this(id, message, at, Optional.empty());
    }
}
