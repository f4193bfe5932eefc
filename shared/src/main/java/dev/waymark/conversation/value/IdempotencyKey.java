package dev.waymark.conversation.value;

import java.util.OptionalInt;
import java.util.stream.IntStream;

/** A key by which another system recognizes repeated requests. */
public final class IdempotencyKey {
    private IdempotencyKey() {}

    /**
     * The hexadecimal SHA-256 of {@code SESSION:TOOL:ARGS} for the first call, and of {@code SESSION:TOOL:ARGS:n} for
     * the n-th call with the same arguments after the earlier ones had a known outcome.
     *
     * @param repeat the number of earlier identical calls with a known outcome
     */
    public static String of(String session, String tool, Json args, int repeat) {
        String first = session + ":" + tool + ":" + args.canonical();
        return Sha256.hex(repeat == 0 ? first : first + ":" + (repeat + 1));
    }

    /**
     * The repeat count that belongs to this key, if it is less than {@code most}. Large arguments are hashed only once.
     */
    public static OptionalInt repeatOf(String key, String session, String tool, Json args, int most) {
        Sha256 first = Sha256.over(session + ":" + tool + ":" + args.canonical());
        return IntStream.range(0, most)
                .filter(repeat ->
                        first.hexWith(repeat == 0 ? "" : ":" + (repeat + 1)).equals(key))
                .findFirst();
    }
}
