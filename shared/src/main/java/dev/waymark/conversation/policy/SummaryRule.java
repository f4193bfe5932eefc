package dev.waymark.conversation.policy;

/**
 * When a conversation is summarized: before a model call of {@code whenTokens} tokens or more. The newest
 * {@code keepMessages} messages stay unchanged.
 */
public record SummaryRule(long whenTokens, int keepMessages) {
    /** The default rule: 170,000 tokens, 6 messages. */
    public static final SummaryRule DEFAULT = new SummaryRule(170_000, 6);

    public SummaryRule {
        if (whenTokens < 1 || keepMessages < 1) {
            throw new IllegalArgumentException(
                    "whenTokens and keepMessages must be at least 1, found " + whenTokens + " and " + keepMessages);
        }
    }
}
