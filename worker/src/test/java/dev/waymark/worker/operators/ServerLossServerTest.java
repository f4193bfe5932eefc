package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.testkit.process.KillableServer;
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

    enum Workers {
        STAY,
        /** The workers die while the server is down, and others replace them. */
        DIE
    }

    @ParameterizedTest
    @EnumSource(Workers.class)
    @Execution(ExecutionMode.CONCURRENT)
    void server_killed_chargesAtMostOnceAndContinuesSoon(Workers workers, @TempDir Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary");
        ChargeService till = new ChargeService(directory.resolve("ledger"));
        Path database = directory.resolve("temporal.db");
        try (KillableServer server = KillableServer.start(
                        binary.get(), port -> DevServer.temporal(binary.get(), Optional.of(database), port, 0));
                Connection connection = Connection.to(server.address());
                Plant plant = new Plant(connection, till)) {
            plant.workflows();
            plant.activities();
            Map<String, Wish> threads = new LinkedHashMap<>();
            Wish one = new Wish(ChargeService.CHARGE, 1, Wish.Ids.FRESH);
            Wish four = new Wish(ChargeService.CHARGE, 4, Wish.Ids.FRESH);

            String thinking = Plant.newThread();
            ToolBarrier thought = plant.holdThinking(thinking);
            threads.put(plant.start(thinking, four), four);
            thought.awaitArrival();
            String claimed = Plant.newThread();
            ToolBarrier before = till.holdBefore(claimed).firm();
            threads.put(plant.start(claimed, four), four);
            before.awaitArrival();
            String charged = Plant.newThread();
            ToolBarrier after = till.holdAfter(charged).firm();
            threads.put(plant.start(charged, one), one);
            after.awaitArrival();
            for (String tool : new String[] {ChargeService.APPROVED, ChargeService.ASKING, ChargeService.VERIFIED}) {
                Wish wish = new Wish(tool, 1, Wish.Ids.FRESH);
                String thread = Plant.newThread();
                till.holdAfter(thread);
                threads.put(plant.start(thread, wish), wish);
                switch (tool) {
                    case ChargeService.APPROVED -> plant.awaitCall(thread, Call.Status.AWAITING);
                    case ChargeService.ASKING -> plant.awaitCall(thread, Call.Status.UNSETTLED);
                    default -> plant.awaitCall(thread, Call.Status.UNKNOWN);
                }
                till.holdAfter(thread).open();
            }
            for (int i = 0; i < 8; i++) {
                // These threads may be at any point when the server dies.
                Wish wish = i % 2 == 0 ? four : new Wish(ChargeService.DEDUPLICATED, 2, Wish.Ids.FRESH);
                threads.put(plant.start(wish), wish);
            }

            server.kill();
            if (workers == Workers.DIE) {
                plant.kill();
            }
            thought.open();
            before.open();
            after.open();
            server.restart();
            plant.awaitServer();
            if (workers == Workers.DIE) {
                plant.workflows();
                plant.activities();
            }

            for (Map.Entry<String, Wish> thread : threads.entrySet()) {
                if (!plant.state(thread.getKey()).isInterrupted()) {
                    plant.awaitProgress(thread.getKey(), HEALED);
                }
            }
            for (Map.Entry<String, Wish> thread : threads.entrySet()) {
                assertThat(plant.attend(thread.getKey()).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                plant.check(thread.getKey(), thread.getValue());
            }
        }
    }
}
