package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server is killed while threads are running, and restarts with the state that it has on disk. */
@Tag("server")
@Tag("full")
class ServerLossServerTest {
    private static final Duration HEALED = Duration.ofSeconds(30);

    enum WorkerFate {
        STAY,
        /** The workers die while the server is down, and others replace them. */
        DIE
    }

    @ParameterizedTest
    @EnumSource(WorkerFate.class)
    @Execution(ExecutionMode.CONCURRENT)
    void server_killed_chargesAtMostOnceAndContinuesSoon(WorkerFate fate, @TempDir Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary");
        ChargeService charges = new ChargeService(directory.resolve("ledger"));
        Path database = directory.resolve("temporal.db");
        try (KillableServer server = KillableServer.start(
                        binary.get(), port -> DevServer.temporal(binary.get(), Optional.of(database), port, 0));
                Connection connection = Connection.to(server.address());
                WorkerFleet fleet = new WorkerFleet(connection, charges)) {
            fleet.workflows();
            fleet.activities();
            Map<String, ChargeRequest> threads = new LinkedHashMap<>();
            ChargeRequest one = new ChargeRequest(ChargeService.CHARGE, 1, ChargeRequest.Ids.FRESH);
            ChargeRequest four = new ChargeRequest(ChargeService.CHARGE, 4, ChargeRequest.Ids.FRESH);

            String thinking = WorkerFleet.newThread();
            ToolBarrier thought = fleet.holdThinking(thinking);
            threads.put(fleet.start(thinking, four), four);
            thought.awaitArrival();
            String claimed = WorkerFleet.newThread();
            ToolBarrier before = charges.holdBefore(claimed).firm();
            threads.put(fleet.start(claimed, four), four);
            before.awaitArrival();
            String charged = WorkerFleet.newThread();
            ToolBarrier after = charges.holdAfter(charged).firm();
            threads.put(fleet.start(charged, one), one);
            after.awaitArrival();
            for (String tool : new String[] {ChargeService.APPROVED, ChargeService.ASKING, ChargeService.VERIFIED}) {
                ChargeRequest request = new ChargeRequest(tool, 1, ChargeRequest.Ids.FRESH);
                String thread = WorkerFleet.newThread();
                charges.holdAfter(thread);
                threads.put(fleet.start(thread, request), request);
                switch (tool) {
                    case ChargeService.APPROVED -> fleet.awaitCall(thread, Call.Status.AWAITING);
                    case ChargeService.ASKING -> fleet.awaitCall(thread, Call.Status.UNSETTLED);
                    default -> fleet.awaitCall(thread, Call.Status.UNKNOWN);
                }
                charges.holdAfter(thread).open();
            }
            for (int i = 0; i < 8; i++) {
                // These threads may be at any point when the server dies.
                ChargeRequest request =
                        i % 2 == 0 ? four : new ChargeRequest(ChargeService.DEDUPLICATED, 2, ChargeRequest.Ids.FRESH);
                threads.put(fleet.start(request), request);
            }

            server.kill();
            if (fate == WorkerFate.DIE) {
                fleet.kill();
            }
            thought.open();
            before.open();
            after.open();
            server.restart();
            fleet.awaitServer();
            if (fate == WorkerFate.DIE) {
                fleet.workflows();
                fleet.activities();
            }

            for (Map.Entry<String, ChargeRequest> thread : threads.entrySet()) {
                if (!fleet.state(thread.getKey()).isInterrupted()) {
                    fleet.awaitProgress(thread.getKey(), HEALED);
                }
            }
            for (Map.Entry<String, ChargeRequest> thread : threads.entrySet()) {
                assertThat(fleet.attend(thread.getKey()).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                fleet.check(thread.getKey(), thread.getValue());
            }
        }
    }
}
