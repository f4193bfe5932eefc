package dev.waymark.e2e.examples;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import java.math.BigDecimal;
import java.util.Optional;

/** Decides on calls and answers questions while it waits for the outcome. */
final class DecidingInCode {
    private DecidingInCode() {}

    static AgentResult settleTheBill(AgentClient client, BigDecimal mostCents) {
        return client.onApproval(request -> {
                    BigDecimal cents =
                            new BigDecimal(String.valueOf(request.args().field("cents")));
                    return cents.compareTo(mostCents) <= 0
                            ? Optional.of(Approval.approve().withBy("policy"))
                            : Optional.empty(); // left to people
                })
                .onQuestion(question -> Optional.empty())
                .prompt("billing", "Settle the bill of table nine")
                .await();
    }
}
