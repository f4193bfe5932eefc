package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.contract.DecisionsDigest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import java.util.Optional;

/**
 * The input of the {@code model} activity: not the conversation but its length and digest, so that it has a constant
 * size. The activity reads the conversation from its own workflow's history and compares them.
 *
 * <p>The digest is cut to {@value #DIGITS} hexadecimal digits, since every call stores one in history. It protects
 * against mistakes, for which 128 bits are plenty. Older histories have full digests.
 *
 * @param summary whether a summary of the older part is wanted, and no reply
 * @param decisions a digest of who decided what about the thread's calls, if anybody did
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ModelInput(
        @JsonProperty("step") int step,
        @JsonProperty("messageCount") int messageCount,
        @JsonProperty("digest") String digest,

        @JsonProperty("summary") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean summary,

        @JsonProperty("decisions") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<String> decisions)
        implements ActivityInput {
    private static final int DIGITS = 32;

    @JsonCreator
    public ModelInput {
        digest = digest == null ? "" : digest;
        decisions = decisions == null ? Optional.empty() : decisions;
    }

    /** A call of a thread in which nobody has decided anything. */
    public ModelInput(int step, int messageCount, String digest, boolean summary) {
        this(step, messageCount, digest, summary, Optional.empty());
    }

    /** The input for the model call of this state. */
    public static ModelInput of(Conversation called) {
        Transcript transcript = called.transcript();
        return new ModelInput(
                called.counters().steps(),
                transcript.count(),
                transcript.digest().substring(0, DIGITS),
                called.isSummarising(),
                DecisionsDigest.of(called));
    }

    /** Whether the decisions are those that were recorded. Older histories have no digest of them. */
    public boolean hasDecisionsOf(Conversation called) {
        return decisions.isEmpty() || decisions.equals(DecisionsDigest.of(called));
    }

    @Override
    public Work<Reply> work() {
        return summary ? new Work.Summary(step) : new Work.Model(step);
    }

    /** Whether this is the expected conversation. */
    public boolean isOf(Transcript transcript) {
        return transcript.count() == messageCount
                && digest.length() >= DIGITS
                && transcript.digest().startsWith(digest);
    }
}
