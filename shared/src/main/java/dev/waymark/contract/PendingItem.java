package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Something that waits for a person. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record PendingItem(
        @JsonProperty("thread") String thread,
        @JsonProperty("callId") String callId,
        @JsonProperty("kind") String kind,
        @JsonProperty("tool") String tool,
        @JsonProperty("question") Optional<String> question,
        @JsonProperty("since") Instant since) {
    @JsonCreator
    public PendingItem {
        question = question == null ? Optional.empty() : question;
    }

    /** Everything in this thread that waits for a person, in call order. */
    public static List<PendingItem> of(String thread, Conversation state) {
        return state.questions().stream()
                .map(call -> new PendingItem(thread, call.id(), "question", call.tool(), call.question(), call.since()))
                .toList();
    }

    /** The same with a question of at most this many characters. */
    public PendingItem shortened(int most) {
        Optional<String> words =
                question.map(text -> text.length() <= most ? text : text.substring(0, whole(text, most)) + "…");
        return new PendingItem(thread, callId, kind, tool, words, since);
    }

    /** Half a character can't be written. */
    private static int whole(String text, int most) {
        return Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most;
    }
}
