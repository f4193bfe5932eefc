package dev.waymark.client.request;

import dev.waymark.conversation.decision.CallSettlement.Outcome;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import java.util.Optional;

/**
 * A person's decisions about a call with an unknown outcome.
 *
 * <pre>{@code
 * client.settle("trip", Settlement.done("tu_7").withResult("receipt 7").withBy("ann"));
 * }</pre>
 */
public final class Settlement {
    private Settlement() {}

    /** Settles a call with this outcome. */
    public static OutcomeSettled of(String callId, Outcome outcome) {
        return new OutcomeSettled(callId, outcome, Optional.empty(), Optional.empty());
    }

    /** The call took effect. */
    public static OutcomeSettled done(String callId) {
        return of(callId, Outcome.DONE);
    }

    /** The call did not take effect, and does not run again; the model is told so. */
    public static OutcomeSettled notDone(String callId) {
        return of(callId, Outcome.NOT_DONE);
    }

    /** The call did not take effect and should run again. */
    public static OutcomeSettled rerun(String callId) {
        return of(callId, Outcome.RERUN);
    }

    /** The outcome stays unknown, and the model is told so. */
    public static OutcomeSettled giveUp(String callId) {
        return of(callId, Outcome.GIVE_UP);
    }
}
