package dev.waymark.client;

import java.time.Instant;

/** A thread in a list. {@code status} is that of its last turn, or {@code interrupted}. */
public record ThreadSummary(String thread, String status, boolean open, String agent, int turns, Instant updated) {}
