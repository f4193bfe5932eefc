package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.state.Turn;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.worker.workflow.TestServers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Temporary failures of the network between workers and server. */
@Tag("server")
@Tag("full")
class NetworkServerTest {
    private static final Duration HEALED = Duration.ofSeconds(30);
    private static final Wish WISH = new Wish(ChargeService.CHARGE, 4, Wish.Ids.FRESH);

    @TempDir
    static Path directory;

    private static ChargeService till;

    record Fault(boolean silent, int seconds, boolean ofWorkflowsToo) {}

    static Stream<Fault> faults() {
        List<Fault> all = new ArrayList<>();
        for (int seconds : List.of(1, 5, 20)) {
            for (boolean silent : List.of(false, true)) {
                for (boolean ofWorkflowsToo : List.of(false, true)) {
                    all.add(new Fault(silent, seconds, ofWorkflowsToo));
                }
            }
        }
        return all.stream();
    }

    @BeforeAll
    static void open() {
        TestServers.real();
        till = new ChargeService(directory.resolve("ledger"));
    }

    /**
     * When the network fails, the tools of one thread are about to charge, the tools of another have charged, and a
     * third thread starts.
     */
    @ParameterizedTest
    @MethodSource("faults")
    @Execution(ExecutionMode.CONCURRENT)
    void network_fails_chargesAtMostOnceAndContinuesSoonAfter(Fault fault) throws Exception {
        String charging = Plant.newThread();
        String charged = Plant.newThread();
        ToolBarrier before = till.holdBefore(charging).firm();
        ToolBarrier after = till.holdAfter(charged).firm();
        try (Plant plant = new Plant(TestServers.real(), till)) {
            List<CuttableProxy> cables = new ArrayList<>();
            Plant.Half workflows = plant.workflows();
            if (fault.ofWorkflowsToo()) {
                cables.add(workflows.cable());
            }
            cables.add(plant.activities().cable());
            plant.start(charging, WISH);
            plant.start(charged, WISH);
            before.awaitArrival();
            after.awaitArrival();

            cables.forEach(fault.silent() ? CuttableProxy::silence : CuttableProxy::cut);
            String begun = plant.start(WISH);
            before.open();
            Awaitility.await()
                    .atMost(Plant.PATIENCE)
                    .pollDelay(Duration.ofSeconds(fault.seconds()))
                    .until(() -> true);
            after.open();
            cables.forEach(CuttableProxy::reconnect);

            for (String thread : List.of(charging, charged, begun)) {
                plant.awaitProgress(thread, HEALED);
            }
            for (String thread : List.of(charging, charged, begun)) {
                assertThat(plant.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                plant.check(thread, WISH);
            }
        }
    }
}
