package dev.waymark.contract;

import dev.waymark.conversation.Conversation;
import java.util.Objects;
import java.util.Optional;

/**
 * A reference to a run's last state, if that state is too large for the input of the next run: where the state is, and
 * how to recognize it. There is no digest of the packed state, because another build may write the same state
 * differently.
 *
 * @param runId the run that ended with this state
 * @param facts the number of facts in the state
 * @param messages the number of messages in the state's transcript; {@code digest} is the transcript's digest
 * @param decisions a digest of the decisions about the thread's calls; empty if there are none
 */
public record CarriedReference(String runId, int facts, int messages, String digest, Optional<String> decisions) {
    public CarriedReference {
        Objects.requireNonNull(runId, "runId");
        digest = digest == null ? "" : digest;
    }

    public static CarriedReference of(String runId, Conversation last) {
        return new CarriedReference(
                runId,
                last.counters().facts(),
                last.transcript().count(),
                last.transcript().digest(),
                DecisionsDigest.of(last));
    }

    public boolean isOf(Conversation state) {
        return of(runId, state).equals(this);
    }
}
