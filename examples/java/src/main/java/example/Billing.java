package example;

import dev.waymark.tool.ToolContext;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.VerifyResult;
import dev.waymark.worker.Agent;
import java.util.Map;

/** An agent with two tools: one only reads, the other has a side effect and needs a person's approval. */
public final class Billing {
    private final Payments payments;

    public Billing(Payments payments) {
        this.payments = payments;
    }

    public record Customer(String name) {}

    public record Charge(String name, int cents) {}

    @ToolMethod(description = "What a customer owes, in cents", safeToRetry = true)
    public Map<String, Integer> balance(Customer customer) {
        return Map.of("cents", 4_200);
    }

    @ToolMethod(
            description = "Charges a customer's card",
            approval = true,
            verify = "wasCharged",
            honoursKey = true,
            timeoutSeconds = 5)
    public String charge(Charge charge, ToolContext call) throws Exception {
        return payments.charge(charge.name(), charge.cents(), call.idempotencyKey());
    }

    /** Called if a worker was lost in the middle of a charge. */
    public VerifyResult wasCharged(ToolContext call) throws Exception {
        return payments.wasCharged(call.idempotencyKey()) ? VerifyResult.landed("charged") : VerifyResult.notLanded();
    }

    public Agent agent(String model) {
        return Agent.named("billing")
                .model(model)
                .instructions("You settle bills. Look up what the customer owes, then charge exactly that.")
                .tools(this)
                .build();
    }
}
