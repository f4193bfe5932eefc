package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * What a thread stores about the thread or checkpoint that it continues.
 *
 * @param session the id that idempotency keys of the thread's calls are derived from, if it is not the thread's own id:
 *     a call that runs again must keep its key
 * @param extras values from a checkpoint that no rule uses, kept for later checkpoints
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Origin(
        @JsonProperty("session") Optional<String> session,
        @JsonProperty("extras") Optional<Json> extras) {
    @JsonCreator
    public Origin {
        session = session == null ? Optional.empty() : session;
        extras = extras == null ? Optional.empty() : extras;
    }

    public static Origin ofSession(String id) {
        return new Origin(Optional.of(id), Optional.empty());
    }
}
