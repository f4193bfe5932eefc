package dev.waymark.history;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.Optional;

/** Why a build must not continue a thread: what is wrong, in which run, and at which event if one is the cause. */
public record HistoryFinding(
        Kind kind, String runId, @JsonProperty("event") Optional<Long> eventId, String message) {
    public enum Kind {
        /** The workflow code cannot replay the history: the thread would be stuck. */
        NONDETERMINISM,
        /** The projection differs from what the workflow recorded, or from what another build projects. */
        PROJECTION,
        /** The thread uses rules that this build does not know: the thread would wait for a newer worker. */
        RULES;

        @JsonValue
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The event as users name it: {@code RUN/e42}, or the run. */
    public String place() {
        return eventId.map(id -> runId + "/e" + id).orElse(runId);
    }

    @Override
    public String toString() {
        return kind.wireName() + " at " + place() + ": " + message;
    }
}
