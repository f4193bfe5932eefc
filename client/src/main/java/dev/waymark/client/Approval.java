package dev.waymark.client;

import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a person says to a call that waits for approval: that it may run, as it is or with other arguments, or that it may
 * not.
 *
 * <p>Without {@code callId} it is about the only call that waits. With {@code argsDigest} it is about these arguments and
 * refused if the call has others.
 *
 * <pre>{@code
 * client.decide("trip", Approval.edit(Map.of("cents", 4200)).withBy("ann").withReason("that was the offer"));
 * }</pre>
 *
 * @param args what is to run instead of what the model wanted
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

    public static Approval approve() {
        return YES;
    }

    public static Approval deny() {
        return NO;
    }

    /** The model is told why. */
    public static Approval deny(String reason) {
        return NO.withReason(reason);
    }

    /** It may run, with these arguments. */
    public static Approval edit(Json args) {
        return new Approval(
                true, Optional.empty(), Optional.of(args), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** It may run, with these arguments: what JSON can say, by name. */
    public static Approval edit(Map<String, ?> args) {
        return edit(Json.of(args));
    }

    public Approval withCall(String id) {
        return new Approval(approved, Optional.of(id), args, argsDigest, by, reason);
    }

    /** Binds it to the arguments of this digest, which is that of those that were shown. */
    public Approval withDigest(String shown) {
        return new Approval(approved, callId, args, Optional.of(shown), by, reason);
    }

    public Approval withBy(String who) {
        return new Approval(approved, callId, args, argsDigest, Optional.of(who), reason);
    }

    public Approval withReason(String words) {
        return new Approval(approved, callId, args, argsDigest, by, Optional.of(words));
    }

    Map<String, Object> payload(String id) {
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
