package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * What a thread keeps about the one it continues.
 *
 * @param session the id under which other systems know the thread's calls, if it is not the thread's own: a call that
 * runs again must keep its idempotency key
 * @param extras values from a checkpoint that no rule needs, for later checkpoints
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
