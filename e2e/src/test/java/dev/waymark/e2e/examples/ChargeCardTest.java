package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;
import static dev.waymark.e2e.examples.CrashingWorker.chargeCard;
import static dev.waymark.e2e.examples.CrashingWorker.model;
import static dev.waymark.e2e.examples.CrashingWorker.worker;
import static dev.waymark.testkit.crash.CrashPoint.AFTER_EFFECT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.EffectCheck;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.Takeover;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tool whose worker is really killed. */
class ChargeCardTest {
    @Tag("full")
    @ParameterizedTest
    @EnumSource(names = "AFTER_CLAIM")
    void workerKilled_cardIsChargedOnce(CrashPoint point, @TempDir Path directory) throws Exception {
        Path witness = directory.resolve("witness");
        try (DevServer server = DevServer.inMemory(0);
                EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                AgentClient client = AgentClient.connect(server.address());
                Connection connection = Connection.to(server.address())) {
            String port = Integer.toString(ledger.port());
            String fault = Fault.at(point).toString();
            String thread;
            try (WorkerProcess process =
                    WorkerProcess.start(CrashingWorker.class, server.address(), port, fault, witness.toString())) {
                thread = client.start(Prompt.of("billing", "Charge me")).thread();
                assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
            }
            Instant killed = Crash.witnessed(witness).orElseThrow();

            try (AgentWorker next = CrashingWorker.worker(
                    connection, CrashingWorker.chargeCard(ledger.port()), CrashingWorker.model())) {
                next.start();
                assertThat(assertComplete(client.turn(thread).await()).text()).isEqualTo("Charged.");
            }
            EffectCheck effects = EffectCheck.of(client.timeline(thread), ledger.effects(), List.of(killed));
            assertThat(effects.violations()).isEmpty();
            assertThat(ledger.effects()).hasSize(1);
        }
    }

    @Test
    void workerCutOffInThisProcess_cardIsChargedOnce(@TempDir Path directory) throws Exception {
        try (DevServer server = DevServer.inMemory(0);
                EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                AgentClient client = AgentClient.connect(server.address());
                Takeover workers = Takeover.at(
                        AFTER_EFFECT,
                        server.address(),
                        (connection, crash) -> worker(connection, crash.around(chargeCard(ledger.port())), model())
                                .start())) {
            assertThat(assertComplete(client.prompt("billing", "Charge me").await())
                            .text())
                    .isEqualTo("Charged.");
            assertThat(workers.crashed()).isPresent();
            assertThat(ledger.effects()).hasSize(1);
        }
    }
}
