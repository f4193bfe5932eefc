package dev.waymark.client.request;

import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.value.Json;
import java.util.Map;

/**
 * Decisions about a call that needs approval: run it, run it with other arguments, or deny it.
 *
 * <p>Without a call, a decision applies to the only one that waits. With the digest of arguments, it is rejected if the
 * call has other arguments.
 *
 * <pre>{@code
 * client.decide("trip", Approval.edit(Map.of("cents", 4200)).withBy("ann").withReason("that was the offer"));
 * }</pre>
 */
public final class Approval {
    private Approval() {}

    /** Approves the call as it was requested. */
    public static ApprovalDecided approve() {
        return ApprovalDecided.of(true);
    }

    /** Denies the call without a reason. The model is told that the call was denied. */
    public static ApprovalDecided deny() {
        return ApprovalDecided.of(false);
    }

    /** Denies the call. The model is told the reason. */
    public static ApprovalDecided deny(String reason) {
        return deny().withReason(reason);
    }

    /** Approves the call with these arguments. */
    public static ApprovalDecided edit(Json args) {
        return approve().withArgs(args);
    }

    /** Approves the call with these arguments, given as JSON-compatible values. */
    public static ApprovalDecided edit(Map<String, ?> args) {
        return edit(Json.of(args));
    }
}
