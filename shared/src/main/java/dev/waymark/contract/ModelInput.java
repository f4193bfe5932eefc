package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;

/**
 * What the {@code model} activity is given: not the conversation but its length and digest, a constant few bytes. The
 * activity reads the conversation from its own workflow's history and holds it against these.
 *
 * <p>The digest is abbreviated to {@value #DIGITS} hex digits, since it stands in history once for every call. It guards
 * against mistakes, for which 128 bits are plenty. Older histories have it whole.
 *
 * @param summary whether a summary of the older part is wanted, and no reply
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ModelInput(
        @JsonProperty("step") int step,
        @JsonProperty("messageCount") int messageCount,
        @JsonProperty("digest") String digest,

        @JsonProperty("summary") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean summary)
        implements ActivityInput {
    private static final int DIGITS = 32;

    @JsonCreator
    public ModelInput {
        digest = digest == null ? "" : digest;
    }

    /** What is asked in this state, in which the model was called. */
    public static ModelInput of(Conversation called) {
        Transcript transcript = called.transcript();
        return new ModelInput(
                called.counters().steps(),
                transcript.count(),
                transcript.digest().substring(0, DIGITS),
                called.isSummarising());
    }

    @Override
    public Work<Reply> work() {
        return summary ? new Work.Summary(step) : new Work.Model(step);
    }

    /** Whether this is the conversation that is meant. */
    public boolean isOf(Transcript transcript) {
        return transcript.count() == messageCount
                && digest.length() >= DIGITS
                && transcript.digest().startsWith(digest);
    }
}
