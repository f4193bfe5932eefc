package dev.waymark.e2e.examples;

import dev.waymark.client.request.Approval;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.workflow.AgentOutcome;
import dev.waymark.workflow.AgentTask;
import dev.waymark.workflow.ChildThread;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;

/** A workflow that decides itself about small sums, and waits for people at most a day. */
@WorkflowInterface
public interface ApprovingTable {
    @WorkflowMethod
    String close(int table, int mostCents);

    final class Steps implements ApprovingTable {
        @Override
        public String close(int table, int mostCents) {
            ChildThread thread =
                    ChildThread.start("table-" + table, AgentTask.of("billing", "Settle the bill of table " + table));
            AgentOutcome outcome = thread.await();
            if (outcome.isInterrupted()) {
                PendingItem charge = outcome.pending().get(0);
                if (charge.args().orElseThrow().get("cents").asInt() <= mostCents) {
                    thread.send(Approval.approve()
                            .withCall(charge.callId())
                            .withDigest(charge.argsDigest().orElseThrow())
                            .withBy("policy"));
                }
                outcome = thread.await(Duration.ofDays(1)).orElse(outcome);
            }
            thread.close();
            return outcome.status() + ": " + outcome.text();
        }
    }
}
