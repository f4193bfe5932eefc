package dev.waymark.client;

import java.util.List;

/**
 * The result of comparing a thread's history with the states that its workflow reported.
 *
 * <p>{@code live} is true if a worker answered; otherwise, only the digests in history are compared. {@code cut} is
 * true if retention has deleted earlier runs.
 */
public record Verification(
        String thread, String runId, int runs, int modelCalls, boolean live, List<String> differences, boolean cut) {
    public Verification {
        differences = List.copyOf(differences);
    }

    /** Whether there are no differences. */
    public boolean agrees() {
        return differences.isEmpty();
    }
}
