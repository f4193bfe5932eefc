package dev.waymark.client.request;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A person's decision about a call with an unknown outcome.
 *
 * @param result the call's result, as shown to the model
 * @param note evidence for people who read the thread later, such as where the person has looked; kept with the call,
 *     and not shown to the model
 */
public record Settlement(
        String callId, Outcome outcome, Optional<String> result, Optional<String> by, Optional<String> note) {
    /** What the person decides. */
    public enum Outcome {
        /** The call took effect. */
        DONE("done"),
        /** The call did not take effect, and does not run again; the model is told so. */
        NOT_DONE("not-done"),
        /** The call did not take effect and should run again. */
        RERUN("rerun"),
        /** The outcome stays unknown, and the model is told so. */
        GIVE_UP("give-up");

        private final String wireName;

        Outcome(String wireName) {
            this.wireName = wireName;
        }

        /** The name in commands and messages. */
        public String wireName() {
            return wireName;
        }

        /** Returns the outcome with this wire name, if there is one. */
        public static Optional<Outcome> named(String wireName) {
            return Arrays.stream(values())
                    .filter(outcome -> outcome.wireName.equals(wireName))
                    .findFirst();
        }

        /** All wire names, for messages to users. */
        public static String names() {
            return Arrays.stream(values()).map(Outcome::wireName).collect(Collectors.joining(", "));
        }
    }

    public Settlement {
        if (result.isPresent() && outcome != Outcome.DONE) {
            throw new IllegalArgumentException("only the outcome done has a result");
        }
    }

    /** Settles a call with this outcome. */
    public static Settlement of(String callId, Outcome outcome) {
        return new Settlement(callId, outcome, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** The call took effect. */
    public static Settlement done(String callId) {
        return of(callId, Outcome.DONE);
    }

    /** The call did not take effect, and does not run again; the model is told so. */
    public static Settlement notDone(String callId) {
        return of(callId, Outcome.NOT_DONE);
    }

    /** The call did not take effect and should run again. */
    public static Settlement rerun(String callId) {
        return of(callId, Outcome.RERUN);
    }

    /** The outcome stays unknown, and the model is told so. */
    public static Settlement giveUp(String callId) {
        return of(callId, Outcome.GIVE_UP);
    }

    /** Sets the result of the call, as shown to the model. */
    public Settlement withResult(String text) {
        return new Settlement(callId, outcome, Optional.of(text), by, note);
    }

    /** Names who settled the call. */
    public Settlement withBy(String who) {
        return new Settlement(callId, outcome, result, Optional.of(who), note);
    }

    /** Adds a note of at most 4,000 characters. */
    public Settlement withNote(String text) {
        return new Settlement(callId, outcome, result, by, Optional.of(text));
    }

    /** The payload of the signal or update that carries the settlement. */
    public Map<String, Object> payload() {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("callId", callId);
        payload.put("outcome", outcome.wireName());
        result.ifPresent(text -> payload.put("result", text));
        by.ifPresent(who -> payload.put("by", who));
        note.ifPresent(text -> payload.put("note", text));
        return payload;
    }
}
