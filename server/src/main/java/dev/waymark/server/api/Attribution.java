package dev.waymark.server.api;

import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.server.identity.Caller;

/** Adds the names of callers to the messages that they send. */
public final class Attribution {
    private Attribution() {}

    /**
     * Names the caller as the sender of a message that names none, if authentication is enabled. A decision also gets
     * the caller's verified subject.
     */
    public static PersonFact of(Caller caller, PersonFact message) {
        return caller.subject()
                .map(subject -> message instanceof PersonFact.Decision decision
                        ? named(subject.subject(), decision).withVerified(subject)
                        : message.withBy(subject.subject()))
                .orElse(message);
    }

    private static PersonFact.Decision named(String caller, PersonFact.Decision decision) {
        return decision.by().isPresent() ? decision : decision.withBy(caller);
    }
}
