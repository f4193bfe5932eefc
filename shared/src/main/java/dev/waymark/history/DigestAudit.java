package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import java.util.List;
import java.util.Optional;

/**
 * What the histories of a thread's runs prove: how many recorded digests were compared, and which differed.
 *
 * <p>{@code cutState} is the newest run's state after the workflow task at which the history was cut, and {@code cut}
 * says that retention has taken earlier runs away.
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
