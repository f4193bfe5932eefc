package dev.waymark.client.request;

import java.time.Instant;

/** A question that waits for an answer. */
public record Question(String thread, String callId, String tool, String text, Instant since) {}
