package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import java.util.List;
import java.util.Optional;

/**
 * The result of checking the histories of a thread's runs: how many recorded digests were compared, and which differ.
 *
 * <p>{@code contradictions} describes other recorded data that differs: decisions, final replies, and the results of
 * closed runs. {@code state} is the newest run's state, and {@code cutState} its state after the workflow task that
 * started at the requested length of the history. {@code cut} is true if retention has deleted earlier runs.
 */
public record DigestAudit(
        String runId,
        int runs,
        int modelCalls,
        List<DigestMismatch> mismatches,
        List<String> contradictions,
        Optional<Conversation> state,
        Optional<Conversation> cutState,
        boolean cut) {
    public DigestAudit {
        mismatches = List.copyOf(mismatches);
        contradictions = List.copyOf(contradictions);
    }
}
