package dev.waymark.e2e.examples;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.decision.PendingItem;
import java.util.List;
import java.util.Map;

/** Two processes, and a person between them who takes days. */
final class DecidingLater {
    private DecidingLater() {}

    /** Returns what to show. The thread waits, and nothing runs. */
    static List<PendingItem> begin(AgentClient client) {
        AgentResult result = client.run(Prompt.of("billing", "Settle the bill of table nine"))
                .await();
        return result instanceof AgentResult.Interrupted interrupted ? interrupted.pending() : List.of();
    }

    /** Approves fewer cents, in a new process. Refused if the arguments have changed since they were shown. */
    static TurnHandle approveLess(AgentClient client, PendingItem shown, int cents, String who) {
        return client.decide(
                shown.thread(),
                Approval.edit(Map.of("table", 9, "cents", cents))
                        .withCall(shown.callId())
                        .withDigest(shown.argsDigest().orElseThrow())
                        .withBy(who));
    }
}
