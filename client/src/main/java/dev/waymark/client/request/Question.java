package dev.waymark.client.request;

import java.time.Instant;

/** A question of an agent that waits for an answer, as passed to the callback that may answer it. */
public record Question(String thread, String callId, String tool, String text, Instant since) {}
