package dev.waymark.client;

import java.time.Instant;

/**
 * The next words of a reply that is still coming. With another attempt the reply begins anew, and what was said before is
 * to be forgotten; then the words may be none.
 *
 * @param eventId the event by which the model was called
 * @param from how many characters of the attempt came before
 */
public record TextDelta(String runId, long eventId, Instant at, int attempt, int from, String text) {
    /** How many characters of the attempt are known with this. */
    public int until() {
        return from + text.length();
    }
}
