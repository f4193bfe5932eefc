package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Spent;
import java.util.Optional;

/**
 * The partial text of a reply, in the heartbeat details of the {@code model} activity. It is not stored in history.
 * Each attempt starts anew; after a failed one the server still shows its last text, so the text names its attempt.
 *
 * @param step the number of the model call in the thread
 * @param spent the spending of the call so far, including earlier attempts; the next attempt adds to it
 * @param from the number of characters before {@code text}, which is the end of a long reply only
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PartialReply(
        @JsonProperty("step") int step,
        @JsonProperty("attempt") int attempt,
        @JsonProperty("from") int from,
        @JsonProperty("text") String text,

        @JsonProperty("spent") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<Spent> spent) {
    @JsonCreator
    public PartialReply {
        text = text == null ? "" : text;
        spent = spent == null ? Optional.empty() : spent;
    }
}
