package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Transcript;

/**
 * What the {@code model} activity is given: not the conversation but its length and digest, a constant few bytes. The
 * activity reads the conversation from its own workflow's history and holds it against these.
 *
 * <p>The digest is abbreviated to {@value #DIGITS} hex digits, since it stands in history once for every call. It guards
 * against mistakes, for which 128 bits are plenty. Older histories have it whole.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ModelInput(
        @JsonProperty("step") int step,
        @JsonProperty("messageCount") int messageCount,
        @JsonProperty("digest") String digest) {
    private static final int DIGITS = 32;

    @JsonCreator
    public ModelInput {
        digest = digest == null ? "" : digest;
    }

    public static ModelInput of(int step, Transcript transcript) {
        return new ModelInput(step, transcript.count(), transcript.digest().substring(0, DIGITS));
    }

    /** Whether this is the conversation that is meant. */
    public boolean isOf(Transcript transcript) {
        return transcript.count() == messageCount
                && digest.length() >= DIGITS
                && transcript.digest().startsWith(digest);
    }
}
