package example;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads the address of the server from {@code TEMPORAL_ADDRESS}, and the provider's key from {@code ANTHROPIC_API_KEY}.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = Connection.fromEnvironment();
                AgentClient client = AgentClient.connect();
                AgentWorker worker = AgentWorker.on(connection)
                        .agent(new Billing(new PrintedPayments()).agent("anthropic:claude-haiku-4-5"))
                        .build()) {
            worker.start();
            AgentResult result = client.onApproval(request -> Optional.of(Approval.approve().withBy("example")))
                    .prompt("billing", "Settle the bill of Ann")
                    .await();
            System.out.println(result);
        }
    }

    private static final class PrintedPayments implements Payments {
        private final Set<String> charged = ConcurrentHashMap.newKeySet();

        @Override
        public String charge(String customer, int cents, String key) {
            charged.add(key);
            return "charged " + cents + " cents to " + customer;
        }

        @Override
        public boolean wasCharged(String key) {
            return charged.contains(key);
        }
    }
}
