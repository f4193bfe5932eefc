package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.worker.workflow.TestServers;
import io.temporal.client.WorkflowUpdateException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Claims of a dispatch that another execution has claimed, or that has ended. */
@Tag("server")
@Tag("full")
class LateClaimServerTest {
    private static final ChargeRequest REQUEST = new ChargeRequest(ChargeService.CHARGE, 1, ChargeRequest.Ids.FRESH);

    @Test
    void claim_ofAClaimedOrEndedDispatch_isRefused(@TempDir Path directory) throws Exception {
        ChargeService charges = new ChargeService(directory.resolve("ledger"));
        String thread = WorkerFleet.newThread();
        ToolBarrier before = charges.holdBefore(thread);
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges)) {
            fleet.workflows();
            WorkerFleet.HalfWorker first = fleet.activities();
            fleet.start(thread, REQUEST);
            before.awaitArrival();
            Call call = fleet.awaitCall(thread, Call.Status.CLAIMED);

            assertRefused(fleet, thread, call, 1);
            first.kill();
            fleet.activities();
            assertThat(fleet.attend(thread).calls().get(call.id()).orElseThrow().status())
                    .isEqualTo(Call.Status.LOST);
            assertRefused(fleet, thread, call, 1);
            assertRefused(fleet, thread, call, 2);
            fleet.check(thread, REQUEST);
        }
    }

    private static void assertRefused(WorkerFleet fleet, String thread, Call call, int dispatch) {
        String execution = ClaimRequest.execution(fleet.timeline(thread).runId(), 1, "zombie");
        ClaimRequest claim =
                new ClaimRequest(call.id(), dispatch, call.tool(), call.argsDigest(), call.repeat(), execution);
        assertThatThrownBy(() -> fleet.stub(thread).update(SignalNames.CLAIM, ClaimRequest.Answer.class, claim))
                .isInstanceOf(WorkflowUpdateException.class)
                .cause()
                .hasMessageContaining("is not open");
    }
}
