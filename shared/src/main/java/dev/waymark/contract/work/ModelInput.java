package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.contract.DecisionsDigest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import java.util.Optional;

/**
 * The input of the {@code model} activity. It has the length and the digest of the conversation, not the conversation
 * itself, so that its size is constant. The activity reads the conversation from its own workflow's history, and checks
 * the conversation's length and digest.
 *
 * <p>The digest is cut to {@value #DIGITS} hexadecimal digits, since every call stores one in history. It protects
 * against mistakes, for which 128 bits are enough.
 *
 * @param summary whether to summarize the older part of the conversation instead of replying
 * @param verdicts set if the agent's rules are to be asked about the reply's calls, which only a workflow that knows
 *     verdicts does
 * @param decisions a digest of the decisions about the thread's calls; empty if there are none
 */
public record ModelInput(
        int step,
        int messageCount,
        String digest,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean summary,

        Optional<String> decisions,
        Optional<VerdictRequest> verdicts)
        implements ActivityInput {
    private static final int DIGITS = 32;

    public ModelInput {
        digest = digest == null ? "" : digest;
    }

    /** The input for a thread without decisions. */
    public ModelInput(int step, int messageCount, String digest, boolean summary) {
        this(step, messageCount, digest, summary, Optional.empty(), Optional.empty());
    }

    /** The input for the model call of this state. */
    public static ModelInput of(Conversation called) {
        Transcript transcript = called.transcript();
        return new ModelInput(
                called.counters().steps(),
                transcript.count(),
                cut(transcript),
                called.isSummarising(),
                DecisionsDigest.of(called),
                Optional.empty());
    }

    /** A copy that asks for verdicts about the reply's calls, if the agent has rules. */
    public ModelInput judging(Conversation called, Optional<String> owner) {
        return called.hasRules() && !summary
                ? new ModelInput(step, messageCount, digest, false, decisions, Optional.of(new VerdictRequest(owner)))
                : this;
    }

    /**
     * What rules need to know that the conversation does not say.
     *
     * @param owner the subject that owns the thread
     */
    public record VerdictRequest(Optional<String> owner) {}

    /** Whether the decisions match the recorded digest. */
    public boolean hasDecisionsOf(Conversation called) {
        return decisions.equals(DecisionsDigest.of(called));
    }

    @Override
    public Work<Reply> work() {
        return summary ? new Work.Summary(step) : new Work.Model(step);
    }

    private static String cut(Transcript transcript) {
        return transcript.digest().substring(0, DIGITS);
    }

    /** Whether the transcript has the recorded length and digest. */
    public boolean isOf(Transcript transcript) {
        return transcript.count() == messageCount && digest.equals(cut(transcript));
    }
}
