package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Optional;

/**
 * The partial text of a reply, in the heartbeat details of the {@code model} activity. It is not stored in history.
 * Each attempt starts with an empty text. After a failed attempt, the server still shows the attempt's last text, so
 * the text has the attempt's number.
 *
 * @param step the number of the model call in the thread
 * @param spent the spending of the call so far, including earlier attempts; the next attempt adds to it
 * @param failed the models that failed in this call, once per failure; several times for one failure after which the
 *     model should not be tried again
 * @param unusable the fallbacks that cannot answer this call
 * @param from the number of characters before {@code text}, since only the end of a long reply is sent
 */
public record PartialReply(
        int step,
        int attempt,
        int from,
        String text,

        Optional<Spent> spent,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> failed,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> unusable) {
    public PartialReply {
        text = text == null ? "" : text;
        failed = failed == null ? List.of() : List.copyOf(failed);
        unusable = unusable == null ? List.of() : List.copyOf(unusable);
    }

    /** The partial text of a call in which no model has failed. */
    public PartialReply(int step, int attempt, int from, String text, Optional<Spent> spent) {
        this(step, attempt, from, text, spent, List.of(), List.of());
    }
}
