package dev.waymark.conversation.policy;

/**
 * How much of a call's result a model is shown. Of a longer result, it gets the beginning and the end, and a handle with
 * which it can read the rest.
 *
 * @param showBytes the longest result that is not cut, in bytes of UTF-8: 4 KiB to 256 KiB
 */
public record ResultRule(int showBytes) {
    private static final int LEAST_BYTES = 4 * 1024;
    private static final int MOST_BYTES = 256 * 1024;

    /** The rule for agents that set no number: 16 KiB. */
    public static final ResultRule DEFAULT = new ResultRule(16 * 1024);

    public ResultRule {
        if (showBytes < LEAST_BYTES || showBytes > MOST_BYTES) {
            throw new IllegalArgumentException("expected 4 KiB to 256 KiB, found " + showBytes + " bytes");
        }
    }
}
