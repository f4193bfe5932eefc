package dev.waymark.e2e.examples;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import java.util.Optional;

/** Decides on calls and answers questions while it waits for the outcome. */
final class DecidingInCode {
    private DecidingInCode() {}

    static AgentResult settleTheBill(AgentClient client, int mostCents) {
        return client.onApproval(request -> request.args().get("cents").asInt() <= mostCents
                        ? Optional.of(Approval.approve().withBy("policy"))
                        : Optional.empty()) // left to people
                .onQuestion(question -> Optional.empty())
                .prompt("billing", "Settle the bill of table nine")
                .await();
    }
}
