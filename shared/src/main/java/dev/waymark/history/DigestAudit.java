package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import java.util.List;
import java.util.Optional;

/**
 * What the histories of a thread's runs prove: how many recorded digests were compared, and which differed.
 *
 * <p>{@code contradictions} says in words what else was recorded differently: decisions, last words, and the results of
 * closed runs. {@code state} is the newest run's state, {@code cutState} its state after the workflow task at which the
 * history was cut, and {@code cut} says that retention has taken earlier runs away.
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
