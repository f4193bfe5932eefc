package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/** Tokens that model calls took, as the provider counted them. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Usage(
        @JsonProperty("inputTokens") long inputTokens,
        @JsonProperty("outputTokens") long outputTokens) {
    public static final Usage NONE = new Usage(0, 0);

    @JsonCreator
    public Usage {
        if (inputTokens < 0 || outputTokens < 0) {
            throw new IllegalArgumentException("negative usage: " + inputTokens + ", " + outputTokens);
        }
    }

    public Usage plus(Usage other) {
        return new Usage(sum(inputTokens, other.inputTokens), sum(outputTokens, other.outputTokens));
    }

    /** What this is more than that. */
    Usage minus(Usage other) {
        return new Usage(Math.max(0, inputTokens - other.inputTokens), Math.max(0, outputTokens - other.outputTokens));
    }

    /** An absurd count must not become a negative one, which would throw in the middle of a fold. */
    private static long sum(long left, long right) {
        return left > Long.MAX_VALUE - right ? Long.MAX_VALUE : left + right;
    }
}
