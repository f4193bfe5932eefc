package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.Turn;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.workflow.TestServers;
import io.temporal.api.enums.v1.PendingActivityState;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stops a turn or ends a thread at any point of a call, and checks what is reported about the call. */
@Tag("server")
@Tag("full")
class StopServerTest {
    @TempDir
    static Path directory;

    private static ChargeService charges;

    enum Order {
        STOP,
        CANCEL,
        TERMINATE
    }

    enum Point {
        THINKING(ChargeService.CHARGE),
        AWAITING_APPROVAL(ChargeService.APPROVED),
        DISPATCHED(ChargeService.APPROVED),
        STARTED(ChargeService.APPROVED),
        CLAIMED(ChargeService.CHARGE),
        CHARGED(ChargeService.CHARGE),
        WAITING_FOR_THE_FENCE(ChargeService.VERIFIED),
        VERIFYING(ChargeService.VERIFIED),
        UNSETTLED(ChargeService.ASKING);

        private final String tool;

        Point(String tool) {
            this.tool = tool;
        }

        boolean isUnclaimed() {
            return compareTo(CLAIMED) < 0;
        }
    }

    record Scenario(Order order, Point point) {}

    static Stream<Scenario> scenarios() {
        return Stream.of(Order.values())
                .flatMap(order -> Stream.of(Point.values()).map(point -> new Scenario(order, point)));
    }

    @BeforeAll
    static void open() {
        TestServers.real();
        charges = new ChargeService(directory.resolve("ledger"));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    @Execution(ExecutionMode.CONCURRENT)
    void stop_atAnyPoint_chargesAtMostOnceAndReportsWhatIsKnown(Scenario scenario) throws Exception {
        ChargeRequest request = new ChargeRequest(scenario.point().tool, 1, ChargeRequest.Ids.FRESH);
        String thread = WorkerFleet.newThread();
        ToolBarrier before = charges.holdBefore(thread);
        ToolBarrier after = charges.holdAfter(thread);
        ToolBarrier verifying = charges.holdVerifying(thread);
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges)) {
            ToolBarrier thinking = fleet.holdThinking(thread);
            WorkerFleet.HalfWorker workflows = fleet.workflows();
            WorkerFleet.HalfWorker activities = fleet.activities();
            fleet.start(thread, request);
            thinking.awaitArrival();
            if (scenario.point() != Point.THINKING) {
                thinking.open();
            }
            if (scenario.point() == Point.CLAIMED || scenario.point() == Point.CHARGED) {
                before.firm();
                after.firm();
            }
            switch (scenario.point()) {
                case THINKING -> {}
                case AWAITING_APPROVAL -> fleet.awaitCall(thread, Call.Status.AWAITING);
                case DISPATCHED -> {
                    Call call = fleet.awaitCall(thread, Call.Status.AWAITING);
                    activities.stop();
                    fleet.decide(thread, call);
                    fleet.awaitCall(thread, Call.Status.DISPATCHED);
                }
                case STARTED -> {
                    Call call = fleet.awaitCall(thread, Call.Status.AWAITING);
                    activities.stop();
                    fleet.decide(thread, call);
                    fleet.awaitCall(thread, Call.Status.DISPATCHED);
                    workflows.stop();
                    fleet.activities();
                    fleet.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_STARTED);
                }
                case CLAIMED -> before.awaitArrival();
                case CHARGED -> {
                    before.open();
                    after.awaitArrival();
                }
                case WAITING_FOR_THE_FENCE -> {
                    before.open();
                    fleet.awaitCall(thread, Call.Status.UNKNOWN);
                }
                case VERIFYING -> {
                    before.open();
                    verifying.awaitArrival();
                }
                case UNSETTLED -> {
                    before.open();
                    fleet.awaitCall(thread, Call.Status.UNSETTLED);
                }
            }
            switch (scenario.order()) {
                case STOP -> fleet.stub(thread).signal(SignalNames.STOP);
                case CANCEL -> fleet.stub(thread).cancel();
                case TERMINATE -> fleet.stub(thread).terminate("a test");
            }
            switch (scenario.point()) {
                case STARTED -> fleet.workflows();
                case DISPATCHED -> fleet.activities();
                case THINKING, AWAITING_APPROVAL, CLAIMED, CHARGED, WAITING_FOR_THE_FENCE, VERIFYING, UNSETTLED -> {}
            }
            if (scenario.order() == Order.STOP) {
                Conversation stopped =
                        fleet.await(thread, state -> !state.turn().isRunning());
                assertThat(stopped.turn().status()).isEqualTo(Turn.Status.STOPPED);
                checkWords(stopped, scenario.point());
            }
            List.of(thinking, before, after, verifying).forEach(ToolBarrier::open);
            switch (scenario.order()) {
                case STOP -> {
                    fleet.stub(thread)
                            .signal(
                                    SignalNames.SAY,
                                    new ChargeRequest(ChargeService.CHARGE, 0, ChargeRequest.Ids.SAME).words());
                    fleet.await(thread, state -> state.turn().status() == Turn.Status.COMPLETE);
                    fleet.check(thread, request);
                }
                case CANCEL -> {
                    Timeline end = fleet.awaitEnding(thread);
                    assertThat(end.ending().orElseThrow().kind()).isEqualTo(RunEnding.Kind.CANCELLED);
                    checkWords(end.now(), scenario.point());
                    fleet.check(thread, request);
                }
                case TERMINATE -> {
                    fleet.awaitEnding(thread);
                    fleet.checkCharges(thread, request);
                }
            }
            if (scenario.point().isUnclaimed()) {
                assertThat(charges.charged(thread, 1)).isZero();
            }
        }
    }

    /**
     * Checks that the calls that may have charged are reported as such, and no others. A call that is only started may
     * be reported either way.
     */
    private static void checkWords(Conversation state, Point point) {
        assertThat(state.batchCalls()).allSatisfy(call -> {
            assertThat(call.status()).isEqualTo(Call.Status.CANCELLED);
            if (!point.isUnclaimed()) {
                assertThat(call.result().orElseThrow()).contains("whether it took effect is not known");
            } else if (point != Point.STARTED) {
                assertThat(call.result().orElseThrow()).doesNotContain("claimed");
            }
        });
        assertThat(state.batchCalls()).hasSize(point == Point.THINKING ? 0 : 1);
    }
}
