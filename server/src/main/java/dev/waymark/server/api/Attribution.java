package dev.waymark.server.api;

import dev.waymark.client.request.OutboundMessage;
import dev.waymark.server.identity.Caller;

/** Adds the names of callers to the messages that they send. */
public final class Attribution {
    private Attribution() {}

    /** Names the caller as the sender, if authentication is on. */
    public static OutboundMessage by(Caller caller, OutboundMessage message) {
        return caller.subject().map(who -> message.by(who.subject())).orElse(message);
    }

    /** Adds the caller's verified subject to a decision, if authentication is on. */
    public static OutboundMessage verified(Caller caller, OutboundMessage decision) {
        return caller.subject().map(decision::verifiedAs).orElse(decision);
    }
}
