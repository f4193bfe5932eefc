package dev.waymark.conversation.value;

import java.util.OptionalInt;
import java.util.stream.IntStream;

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

    /**
     * How many calls of the same there were before the one of this key, or empty when it is the key of none of as many.
     * Arguments may be large, and are looked at once.
     */
    public static OptionalInt repeatOf(String key, String session, String tool, Json args, int most) {
        Sha256 first = Sha256.over(session + ":" + tool + ":" + args.canonical());
        return IntStream.range(0, most)
                .filter(repeat ->
                        first.hexWith(repeat == 0 ? "" : ":" + (repeat + 1)).equals(key))
                .findFirst();
    }
}
