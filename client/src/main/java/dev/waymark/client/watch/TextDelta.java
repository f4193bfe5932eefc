package dev.waymark.client.watch;

import java.time.Instant;

/**
 * The next piece of the text, or of the reasoning, of a reply that is still streaming. A new attempt restarts the reply:
 * what earlier attempts said must be discarded, and the piece may be empty.
 *
 * @param eventId the event of the model call
 * @param from the number of characters of the attempt before this text; text and reasoning are counted separately
 */
public record TextDelta(String runId, long eventId, Instant at, int attempt, int from, String text) {}
