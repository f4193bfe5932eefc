package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.UnsignedDecisions;
import dev.waymark.history.DigestAudit;
import dev.waymark.history.DigestMismatch;
import dev.waymark.history.HistoryReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares the projection of a thread's history with the digests that its workflow recorded in the history and, if a
 * worker answers, with the workflow's current state.
 */
final class Verifier {
    private static final int ATTEMPTS = 4;
    private static final long PAUSE_MILLIS = 300;

    private final Requests requests;
    private final HistoryReader histories;

    Verifier(Requests requests, HistoryReader histories) {
        this.requests = requests;
        this.histories = histories;
    }

    /**
     * Repeats the comparison up to three times after a difference, since the run may have progressed between the two
     * reads.
     */
    Verification verify(String thread) {
        requests.requireKnownRules(thread); // No worker of this version would answer.
        Verification verification = verifyOnce(thread);
        for (int i = 1; i < ATTEMPTS && !verification.agrees(); i++) {
            Sleeper.millis(PAUSE_MILLIS);
            verification = verifyOnce(thread);
        }
        return verification;
    }

    private Verification verifyOnce(String thread) {
        Optional<StateReport> live = requests.queryState(thread);
        DigestAudit audit = histories
                .audit(thread, live.map(StateReport::historyLength).orElse(0L))
                .orElseThrow(() -> Requests.noSuchThread(thread));
        List<String> differences = new ArrayList<>();
        for (DigestMismatch mismatch : audit.mismatches()) {
            differences.add("model call at " + mismatch.runId() + "/e" + mismatch.eventId() + ": recorded "
                    + mismatch.recorded().messageCount() + " messages, "
                    + mismatch.recorded().digest() + "; projected " + mismatch.messageCount() + ", "
                    + mismatch.digest());
        }
        differences.addAll(audit.contradictions());
        for (String call : audit.state().map(UnsignedDecisions::in).orElse(List.of())) {
            differences.add("call " + call + ": the decision names a signer, but has no signature of theirs");
        }
        live.ifPresent(report -> differences.addAll(differences(report, audit)));
        return new Verification(
                thread, audit.runId(), audit.runs(), audit.modelCalls(), live.isPresent(), differences, audit.cut());
    }

    static List<String> differences(StateReport live, DigestAudit audit) {
        String place = audit.runId() + "/e" + live.historyLength();
        if (audit.cutState().isEmpty()) {
            return List.of("state at " + place + ": the workflow has one, the projection has none");
        }
        Conversation state = audit.cutState().get();
        List<String> differences = new ArrayList<>();
        compare(
                differences,
                "transcript at " + place,
                live.digest(),
                state.transcript().digest());
        compare(differences, "state at " + place, live.state(), StateDigest.of(state));
        compare(differences, "rules at " + place, live.rules(), state.rules());
        compare(differences, "facts at " + place, live.facts(), state.counters().facts());
        return differences;
    }

    private static void compare(List<String> differences, String what, Object live, Object projected) {
        if (!live.equals(projected)) {
            differences.add(what + ": the workflow says " + live + ", the projection " + projected);
        }
    }
}
