package dev.waymark.conversation;

/** By which another system can tell that two requests are one. */
public final class IdempotencyKey {
    private IdempotencyKey() {}

    /**
     * Hex of the SHA-256 over {@code SESSION:TOOL:ARGS}, and of {@code SESSION:TOOL:ARGS:n} for the n-th deliberate call
     * of the same, when those before it had ended in a way that was known.
     *
     * @param repeat how many calls of the same came to a known end before
     */
    public static String of(String session, String tool, Json args, int repeat) {
        String first = session + ":" + tool + ":" + args.canonical();
        return Sha256.hex(repeat == 0 ? first : first + ":" + (repeat + 1));
    }
}
