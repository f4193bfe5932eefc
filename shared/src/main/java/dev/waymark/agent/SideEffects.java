package dev.waymark.agent;

import java.util.List;
import java.util.Optional;

/**
 * What a tool declares about its side effects, which matters if the outcome of a call is lost.
 *
 * @param safeToRetry whether running twice is harmless; the other components then have no meaning
 * @param dedupe whether a repeated call with the same arguments returns the result of the thread's first success
 * @param verify the program that checks whether a lost call took effect
 * @param verifies whether a Java tool has such a check of its own
 * @param askOnUnknown whether a person settles a call whose outcome stays unknown; otherwise the model is told that the
 *     outcome is unknown
 * @param honoursKey whether the called system deduplicates requests by the idempotency key
 * @param verifyForbids whether a check that finds no effect also makes the called system refuse the lost call from then
 *     on, however late it arrives
 */
public record SideEffects(
        boolean safeToRetry,
        boolean dedupe,
        List<String> verify,
        boolean verifies,
        boolean askOnUnknown,
        boolean honoursKey,
        boolean verifyForbids) {
    public SideEffects {
        verify = List.copyOf(verify);
    }

    /** Whether there is a check of any kind that finds out if a lost call took effect. */
    public boolean canVerify() {
        return verifies || !verify.isEmpty();
    }

    /** Why no tool can declare this; empty if one can. */
    Optional<String> problem() {
        if (safeToRetry && (dedupe || canVerify() || askOnUnknown || honoursKey || verifyForbids)) {
            return Optional.of("settings for side effects are not allowed with safeToRetry");
        }
        return verifyForbids && !canVerify()
                ? Optional.of("verifyForbids is not allowed without verify")
                : Optional.empty();
    }
}
