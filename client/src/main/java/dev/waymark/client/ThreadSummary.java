package dev.waymark.client;

import java.time.Instant;

/** A thread in a list: {@code status} is its last turn's, or {@code interrupted}. */
public record ThreadSummary(String thread, String status, boolean open, String agent, int turns, Instant updated) {}
