package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import java.util.List;
import java.util.Optional;

/**
 * The result of checking the histories of a thread's runs: how many recorded digests were compared, and which differ.
 *
 * <p>{@code cutState} is the newest run's state after the workflow task at which its history was cut. {@code cut} tells
 * that retention has deleted earlier runs.
 */
public record DigestAudit(
        String runId,
        int runs,
        int modelCalls,
        List<DigestMismatch> mismatches,
        Optional<Conversation> cutState,
        boolean cut) {
    public DigestAudit {
        mismatches = List.copyOf(mismatches);
    }
}
