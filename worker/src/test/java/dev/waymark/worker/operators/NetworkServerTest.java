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
    private static final ChargeRequest REQUEST = new ChargeRequest(ChargeService.CHARGE, 4, ChargeRequest.Ids.FRESH);

    @TempDir
    static Path directory;

    private static ChargeService charges;

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
        charges = new ChargeService(directory.resolve("ledger"));
    }

    /**
     * When the network fails, the tools of one thread are about to charge, the tools of another have charged, and a
     * third thread starts.
     */
    @ParameterizedTest
    @MethodSource("faults")
    @Execution(ExecutionMode.CONCURRENT)
    void network_fails_chargesAtMostOnceAndContinuesSoonAfter(Fault fault) throws Exception {
        String charging = WorkerFleet.newThread();
        String charged = WorkerFleet.newThread();
        ToolBarrier before = charges.holdBefore(charging).firm();
        ToolBarrier after = charges.holdAfter(charged).firm();
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges)) {
            List<CuttableProxy> cables = new ArrayList<>();
            WorkerFleet.HalfWorker workflows = fleet.workflows();
            if (fault.ofWorkflowsToo()) {
                cables.add(workflows.cable());
            }
            cables.add(fleet.activities().cable());
            fleet.start(charging, REQUEST);
            fleet.start(charged, REQUEST);
            before.awaitArrival();
            after.awaitArrival();

            cables.forEach(fault.silent() ? CuttableProxy::silence : CuttableProxy::cut);
            String begun = fleet.start(REQUEST);
            before.open();
            Awaitility.await()
                    .atMost(WorkerFleet.PATIENCE)
                    .pollDelay(Duration.ofSeconds(fault.seconds()))
                    .until(() -> true);
            after.open();
            cables.forEach(CuttableProxy::reconnect);

            for (String thread : List.of(charging, charged, begun)) {
                fleet.awaitProgress(thread, HEALED);
            }
            for (String thread : List.of(charging, charged, begun)) {
                assertThat(fleet.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                fleet.check(thread, REQUEST);
            }
        }
    }
}
