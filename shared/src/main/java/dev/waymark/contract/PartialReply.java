package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Spent;
import java.util.Optional;

/**
 * What the {@code model} activity shows of a reply while it comes, in its heartbeat details: the newest of its words. It
 * is in no history. Every attempt begins anew, and after a failed one the server goes on to show the last words of that,
 * so they say which attempt they belong to.
 *
 * @param step the model call, counted over the thread
 * @param spent what the call has taken so far, its earlier attempts included: the next attempt goes on from there
 * @param from how many characters came before {@code text}, which is no more than the end of a long reply
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
