package dev.waymark.conversation.policy;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * When a conversation is summarized: before a model call of {@code whenTokens} tokens or more. The newest
 * {@code keepMessages} messages stay unchanged.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SummaryRule(
        @JsonProperty("whenTokens") long whenTokens,
        @JsonProperty("keepMessages") int keepMessages) {
    /** The rule for agents that set no numbers: 170,000 tokens, 6 messages. */
    public static final SummaryRule DEFAULT = new SummaryRule(170_000, 6);

    @JsonCreator
    public SummaryRule {
        if (whenTokens < 1 || keepMessages < 1) {
            throw new IllegalArgumentException("a summary of everything: " + whenTokens + ", " + keepMessages);
        }
    }
}
