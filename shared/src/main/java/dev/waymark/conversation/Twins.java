package dev.waymark.conversation;

import java.util.List;

/** Calls of the same tool with the same arguments in one reply: if they have side effects, one runs after the other. */
final class Twins {
    private Twins() {}

    /** Whether a call has to wait for another one. {@code open} has the open calls of its reply, in call order. */
    static boolean block(Call call, List<Call> open) {
        boolean earlier = true;
        for (Call other : open) {
            if (other.id().equals(call.id())) {
                earlier = false;
            } else if (areTwins(call, other) && (earlier || other.dispatches() > 0)) {
                return true;
            }
        }
        return false;
    }

    static boolean areTwins(Call one, Call other) {
        return one.tool().equals(other.tool()) && one.args().equals(other.args());
    }
}
