package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * The tokens of model calls, as counted by the provider. Tokens read from its cache, or written to it, are included in
 * {@code inputTokens} and have their own prices. Tokens for reasoning are included in {@code outputTokens}, and are zero if
 * the provider does not count them.
 */
public record Usage(
        long inputTokens,
        long outputTokens,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long cacheReadTokens,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long cacheWriteTokens,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long reasoningTokens) {
    /** Zero tokens of every kind. */
    public static final Usage NONE = new Usage(0, 0);

    public Usage {
        if (inputTokens < 0 || outputTokens < 0 || cacheReadTokens < 0 || cacheWriteTokens < 0 || reasoningTokens < 0) {
            throw new IllegalArgumentException("negative usage: " + inputTokens + ", " + outputTokens + ", "
                    + cacheReadTokens + ", " + cacheWriteTokens + ", " + reasoningTokens);
        }
    }

    public Usage(long inputTokens, long outputTokens) {
        this(inputTokens, outputTokens, 0, 0);
    }

    public Usage(long inputTokens, long outputTokens, long cacheReadTokens, long cacheWriteTokens) {
        this(inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, 0);
    }

    /** This usage, with the part of its output that was reasoning. */
    public Usage withReasoning(long tokens) {
        return new Usage(
                inputTokens,
                outputTokens,
                cacheReadTokens,
                cacheWriteTokens,
                Math.min(outputTokens, Math.max(0, tokens)));
    }

    /** Adds the counts. A count that would be too large becomes {@link Long#MAX_VALUE}. */
    public Usage plus(Usage other) {
        return new Usage(
                sum(inputTokens, other.inputTokens),
                sum(outputTokens, other.outputTokens),
                sum(cacheReadTokens, other.cacheReadTokens),
                sum(cacheWriteTokens, other.cacheWriteTokens),
                sum(reasoningTokens, other.reasoningTokens));
    }

    /** The input and output tokens together. Cached tokens are part of the input. */
    public long total() {
        return sum(inputTokens, outputTokens);
    }

    /** These counts minus the other's. Negative counts become zero. */
    public Usage minus(Usage other) {
        return new Usage(
                Math.max(0, inputTokens - other.inputTokens),
                Math.max(0, outputTokens - other.outputTokens),
                Math.max(0, cacheReadTokens - other.cacheReadTokens),
                Math.max(0, cacheWriteTokens - other.cacheWriteTokens),
                Math.max(0, reasoningTokens - other.reasoningTokens));
    }

    /** Saturates, since an absurd count must not become negative and throw in the middle of a fold. */
    private static long sum(long left, long right) {
        return left > Long.MAX_VALUE - right ? Long.MAX_VALUE : left + right;
    }
}
