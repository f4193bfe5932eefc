package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.Turn;
import dev.waymark.history.RunEnding;
import dev.waymark.history.Timeline;
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

/** Stopping a turn or ending a thread, at any point of a call, reports what is known about the call. */
@Tag("server")
@Tag("full")
class StopServerTest {
    @TempDir
    static Path directory;

    private static ChargeService till;

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
        till = new ChargeService(directory.resolve("ledger"));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    @Execution(ExecutionMode.CONCURRENT)
    void stop_atAnyPoint_chargesAtMostOnceAndReportsWhatIsKnown(Scenario scenario) throws Exception {
        Wish wish = new Wish(scenario.point().tool, 1, Wish.Ids.FRESH);
        String thread = Plant.newThread();
        ToolBarrier before = till.holdBefore(thread);
        ToolBarrier after = till.holdAfter(thread);
        ToolBarrier verifying = till.holdVerifying(thread);
        try (Plant plant = new Plant(TestServers.real(), till)) {
            ToolBarrier thinking = plant.holdThinking(thread);
            Plant.Half workflows = plant.workflows();
            Plant.Half activities = plant.activities();
            plant.start(thread, wish);
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
                case AWAITING_APPROVAL -> plant.awaitCall(thread, Call.Status.AWAITING);
                case DISPATCHED -> {
                    Call call = plant.awaitCall(thread, Call.Status.AWAITING);
                    activities.stop();
                    plant.decide(thread, call);
                    plant.awaitCall(thread, Call.Status.DISPATCHED);
                }
                case STARTED -> {
                    Call call = plant.awaitCall(thread, Call.Status.AWAITING);
                    activities.stop();
                    plant.decide(thread, call);
                    plant.awaitCall(thread, Call.Status.DISPATCHED);
                    workflows.stop();
                    plant.activities();
                    plant.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_STARTED);
                }
                case CLAIMED -> before.awaitArrival();
                case CHARGED -> {
                    before.open();
                    after.awaitArrival();
                }
                case WAITING_FOR_THE_FENCE -> {
                    before.open();
                    plant.awaitCall(thread, Call.Status.UNKNOWN);
                }
                case VERIFYING -> {
                    before.open();
                    verifying.awaitArrival();
                }
                case UNSETTLED -> {
                    before.open();
                    plant.awaitCall(thread, Call.Status.UNSETTLED);
                }
            }
            switch (scenario.order()) {
                case STOP -> plant.stub(thread).signal(SignalNames.STOP);
                case CANCEL -> plant.stub(thread).cancel();
                case TERMINATE -> plant.stub(thread).terminate("a test");
            }
            switch (scenario.point()) {
                case STARTED -> plant.workflows();
                case DISPATCHED -> plant.activities();
                case THINKING, AWAITING_APPROVAL, CLAIMED, CHARGED, WAITING_FOR_THE_FENCE, VERIFYING, UNSETTLED -> {}
            }
            if (scenario.order() == Order.STOP) {
                Conversation stopped =
                        plant.await(thread, state -> !state.turn().isRunning());
                assertThat(stopped.turn().status()).isEqualTo(Turn.Status.STOPPED);
                checkWords(stopped, scenario.point());
            }
            List.of(thinking, before, after, verifying).forEach(ToolBarrier::open);
            switch (scenario.order()) {
                case STOP -> {
                    plant.stub(thread)
                            .signal(SignalNames.SAY, new Wish(ChargeService.CHARGE, 0, Wish.Ids.SAME).words());
                    plant.await(thread, state -> state.turn().status() == Turn.Status.COMPLETE);
                    plant.check(thread, wish);
                }
                case CANCEL -> {
                    Timeline end = plant.awaitEnding(thread);
                    assertThat(end.ending().orElseThrow().kind()).isEqualTo(RunEnding.Kind.CANCELLED);
                    checkWords(end.now(), scenario.point());
                    plant.check(thread, wish);
                }
                case TERMINATE -> {
                    plant.awaitEnding(thread);
                    plant.checkCharges(thread, wish);
                }
            }
            if (scenario.point().isUnclaimed()) {
                assertThat(till.charged(thread, 1)).isZero();
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
