package dev.waymark.contract;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A digest of the approvals and denials of a thread's calls and of who made them. These decisions are not in the
 * transcript, so the transcript's digest does not change when a decision in a stored history is altered.
 */
public final class DecisionsDigest {
    private static final int DIGITS = 32;
    private static final int SINCE_RULES = 2;

    private DecisionsDigest() {}

    /**
     * Whether a recorded digest is that of this state's decisions. Only a thread with rules 1, which are older than
     * these digests, may have decisions without a digest: elsewhere, somebody has removed it.
     */
    public static boolean isOf(Optional<String> recorded, Conversation state) {
        return recorded.equals(of(state)) || (recorded.isEmpty() && state.rules() < SINCE_RULES);
    }

    /** The digest; empty if there are no decisions. */
    public static Optional<String> of(Conversation state) {
        List<Object> decisions = new ArrayList<>();
        state.calls()
                .forEach((id, call) -> call.approval()
                        .ifPresent(approval -> decisions.add(List.of(
                                id,
                                approval.approved(),
                                approval.edited(),
                                approval.by().orElse(""),
                                approval.reason().orElse(""),
                                approval.at().toString()))));
        return decisions.isEmpty()
                ? Optional.empty()
                : Optional.of(Sha256.hex(Json.of(decisions).canonical()).substring(0, DIGITS));
    }
}
