package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Optional;

/**
 * What first brought untrusted words into a conversation. Never derived from the calls, since a summary drops them.
 *
 * @param ever since the conversation began
 * @param sinceMessage since the newest message of a person
 */
public record UntrustedWords(Optional<WordSource> ever, Optional<WordSource> sinceMessage) {
    /** No untrusted words. */
    public static final UntrustedWords NONE = new UntrustedWords(Optional.empty(), Optional.empty());

    /** A copy after these words. An earlier source is kept. */
    public UntrustedWords from(WordSource source) {
        return ever.isPresent() && sinceMessage.isPresent()
                ? this
                : new UntrustedWords(Optional.of(ever.orElse(source)), Optional.of(sinceMessage.orElse(source)));
    }

    /** A copy after a message of a person. */
    public UntrustedWords afterMessage() {
        return sinceMessage.isEmpty() ? this : new UntrustedWords(ever, Optional.empty());
    }

    /** What a thread below has read as soon as it has this call's task. */
    public UntrustedWords passedOn(String callId) {
        WordSource above = WordSource.parent(callId);
        return new UntrustedWords(ever.map(source -> above), sinceMessage.map(source -> above));
    }

    /** Whether there are no untrusted words. */
    @JsonIgnore
    public boolean isNone() {
        return ever.isEmpty();
    }

    /** A sentence for people; empty if there are no such words. */
    public Optional<String> sentence() {
        return sinceMessage
                .map(source -> "The model has read untrusted words since the last message: " + source.words() + ".")
                .or(() -> ever.map(source ->
                        "The model has read untrusted words before the last message: " + source.words() + "."));
    }
}
