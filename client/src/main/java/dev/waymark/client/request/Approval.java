package dev.waymark.client.request;

import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A decision about a call that needs approval: run it, run it with other arguments, or deny it.
 *
 * <p>Without {@code callId}, the decision applies to the only waiting call. With {@code argsDigest}, the decision is
 * rejected if the call has other arguments.
 *
 * <pre>{@code
 * client.decide("trip", Approval.edit(Map.of("cents", 4200)).withBy("ann").withReason("that was the offer"));
 * }</pre>
 *
 * @param args the arguments to use instead of the model's
 */
public record Approval(
        boolean approved,
        Optional<String> callId,
        Optional<Json> args,
        Optional<String> argsDigest,
        Optional<String> by,
        Optional<String> reason) {
    private static final Approval YES = new Approval(
            true, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    private static final Approval NO = new Approval(
            false, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    public Approval {
        if (!approved && args.isPresent()) {
            throw new IllegalArgumentException("a denial takes no arguments");
        }
    }

    /** Approves the call as it was requested. */
    public static Approval approve() {
        return YES;
    }

    /** Denies the call without a reason. The model is told that the call was denied. */
    public static Approval deny() {
        return NO;
    }

    /** Denies the call. The model is told the reason. */
    public static Approval deny(String reason) {
        return NO.withReason(reason);
    }

    /** Approves the call with these arguments. */
    public static Approval edit(Json args) {
        return new Approval(
                true, Optional.empty(), Optional.of(args), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** Approves the call with these arguments, given as JSON-compatible values. */
    public static Approval edit(Map<String, ?> args) {
        return edit(Json.of(args));
    }

    /** Applies the decision to this call. Without a call, the decision applies to the only one that waits. */
    public Approval withCall(String id) {
        return new Approval(approved, Optional.of(id), args, argsDigest, by, reason);
    }

    /** Restricts the decision to the arguments with this digest, which are the ones that were shown. */
    public Approval withDigest(String shown) {
        return new Approval(approved, callId, args, Optional.of(shown), by, reason);
    }

    /** Names who decided. */
    public Approval withBy(String who) {
        return new Approval(approved, callId, args, argsDigest, Optional.of(who), reason);
    }

    /** Adds a reason. The model is told the reason of a denial. */
    public Approval withReason(String words) {
        return new Approval(approved, callId, args, argsDigest, by, Optional.of(words));
    }

    /** The payload of the signal or update that carries the decision, with this message id. */
    public Map<String, Object> payload(String id) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        callId.ifPresent(value -> payload.put("callId", value));
        args.ifPresent(value -> payload.put("args", value));
        argsDigest.ifPresent(value -> payload.put("argsDigest", value));
        by.ifPresent(value -> payload.put("by", value));
        reason.ifPresent(value -> payload.put("reason", value));
        return payload;
    }
}
