package example;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** At whichever of these points the worker is killed, the card is charged once. */
@Timeout(300)
class BillingCrashTest {
    @ParameterizedTest
    @EnumSource(names = {"AFTER_CLAIM", "BEFORE_COMPLETION", "AFTER_COMPLETION"})
    void workerKilled_cardIsChargedOnce(CrashPoint point, @TempDir Path directory) throws Exception {
        Path witness = directory.resolve("witness");
        String fault = Fault.at(point).toString();
        try (DevServer server = DevServer.inMemory(0);
                EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                AgentClient client = AgentClient.connect(server.address());
                Connection connection = Connection.to(server.address())) {
            String port = Integer.toString(ledger.port());
            String thread;
            try (WorkerProcess process =
                    WorkerProcess.start(BillingWorker.class, server.address(), port, fault, witness.toString())) {
                AgentResult result = client.run(Prompt.of("billing", "Settle the bill of Ann")).await();
                assertThat(result).isInstanceOf(AgentResult.Interrupted.class);
                assertThat(ledger.effects()).isEmpty();
                thread = result.thread();
                client.send(thread, OutboundMessage.of(Approval.approve().withBy("ann")));
                assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
            }
            assertThat(Crash.witnessed(witness)).isPresent();

            try (AgentWorker next = BillingWorker.worker(connection, ledger.port())) {
                next.start();
                assertThat(assertComplete(client.turn(thread).await()).text()).isEqualTo("Settled.");
            }
            assertThat(ledger.effects()).hasSize(1);
        }
    }
}
