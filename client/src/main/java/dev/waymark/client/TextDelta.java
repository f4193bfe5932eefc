package dev.waymark.client;

import java.time.Instant;

/**
 * The next piece of a reply that is still streaming. A new attempt starts the reply anew: the text of earlier attempts
 * is void, and the piece may be empty.
 *
 * @param eventId the event of the model call
 */
public record TextDelta(String runId, long eventId, Instant at, int attempt, String text) {}
