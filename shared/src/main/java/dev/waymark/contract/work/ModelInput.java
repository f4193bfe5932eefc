package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.DecisionsDigest;
import dev.waymark.conversation.Conversation;
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
 * @param decisions a digest of the decisions about the thread's calls; empty if there are none
 * @param fuse whether the result may include the outcomes of the reply's calls
 * @param verdicts set if the activity must also judge the reply's calls
 */
public record ModelInput(
        int step,
        int messageCount,
        String digest,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean summary,

        Optional<String> decisions,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean fuse,

        Optional<VerdictRequest> verdicts)
        implements ActivityInput {
    private static final int DIGITS = 32;

    public ModelInput {
        digest = digest == null ? "" : digest;
    }

    /** The input for a thread without decisions. */
    public ModelInput(int step, int messageCount, String digest, boolean summary) {
        this(step, messageCount, digest, summary, Optional.empty(), false, Optional.empty());
    }

    /** The input for the model call of this state. */
    public static ModelInput of(Conversation called) {
        Transcript transcript = called.transcript();
        return new ModelInput(
                called.counters().steps(),
                transcript.count(),
                cut(transcript),
                called.isSummarizing(),
                DecisionsDigest.of(called),
                false,
                Optional.empty());
    }

    /**
     * The input for the model call of this state, which asks for a fused step if the agent allows it, and for verdicts
     * if the reply's calls must be judged.
     */
    public static ModelInput of(Conversation called, AgentSpec agent, Optional<String> owner) {
        ModelInput plain = of(called);
        boolean replies = !plain.summary;
        return new ModelInput(
                plain.step,
                plain.messageCount,
                plain.digest,
                plain.summary,
                plain.decisions,
                replies && AgentPolicies.fusesSteps(agent),
                replies && called.judgesReplies() ? Optional.of(new VerdictRequest(owner)) : Optional.empty());
    }

    /**
     * What rules need to know besides the conversation.
     *
     * @param owner the subject that owns the thread
     */
    public record VerdictRequest(Optional<String> owner) {}

    /** Whether the decisions match the recorded digest. */
    public boolean hasDecisionsOf(Conversation called) {
        return decisions.equals(DecisionsDigest.of(called));
    }

    @Override
    public Work<ModelResult> work() {
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
