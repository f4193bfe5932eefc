package dev.waymark.e2e;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.WordSource;
import dev.waymark.e2e.product.GuardedWorker;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A thread whose worker is killed with SIGKILL between an untrusted page and the call that it ordered. It asks, and names the page. */
@Tag("server")
@Tag("full")
@Timeout(180)
class KilledGuardServerTest {
    private static DevServer server;
    private static AgentClient client;
    private static Connection connection;

    @BeforeAll
    static void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        client = AgentClient.connect(server.address()).withTimeout(Duration.ofMinutes(2));
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            client.close();
            connection.close();
            server.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "BEFORE_COMPLETION, 1", // The page is on its way.
        "AFTER_COMPLETION, 1", // It has arrived, and no model has read it.
        "MODEL_REQUESTED, 2", // The model reads it.
        "MODEL_REPLIED, 2" // The model wants to pay.
    })
    void workerKilled_stillAsksAndNamesThePage(CrashPoint point, int passing, @TempDir Path directory)
            throws Exception {
        Path witness = directory.resolve("witness");
        String fault = Fault.at(point).passing(passing).toString();
        String thread;
        try (WorkerProcess process =
                WorkerProcess.start(GuardedWorker.class, server.address(), fault, witness.toString())) {
            thread = client.start(Prompt.of(GuardedWorker.AGENT, "Read")).thread();
            assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
        }
        assertThat(Crash.witnessed(witness)).isPresent();

        try (AgentWorker worker = GuardedWorker.worker(connection)) {
            worker.start();
            AgentResult waiting = client.turn(thread).await();
            assertThat(waiting).isInstanceOf(AgentResult.Interrupted.class);
            assertThat(((AgentResult.Interrupted) waiting).pending())
                    .singleElement()
                    .satisfies(ask -> assertThat(ask.untrusted())
                            .contains(UntrustedWords.NONE.from(WordSource.call("tu_1", "page"))));

            client.send(thread, OutboundMessage.of(Approval.approve().withBy("ann")));
            assertThat(assertComplete(client.turn(thread).await()).text()).isEqualTo("Paid.");
        }
        assertThat(client.inspector().verify(thread).agrees()).isTrue();
    }
}
