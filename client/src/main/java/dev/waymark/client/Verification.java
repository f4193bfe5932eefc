package dev.waymark.client;

import java.util.List;

/**
 * What comparing a thread's history with what its workflow said came to.
 *
 * <p>{@code live} says whether a worker was there to ask: without one, only the digests in history are compared. {@code
 * cut} says that retention has taken earlier runs away.
 */
public record Verification(
        String thread, String runId, int runs, int modelCalls, boolean live, List<String> differences, boolean cut) {
    public Verification {
        differences = List.copyOf(differences);
    }

    public boolean agrees() {
        return differences.isEmpty();
    }
}
