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
    private static final Wish WISH = new Wish(ChargeService.CHARGE, 1, Wish.Ids.FRESH);

    @Test
    void claim_ofAClaimedOrEndedDispatch_isRefused(@TempDir Path directory) throws Exception {
        ChargeService till = new ChargeService(directory.resolve("ledger"));
        String thread = Plant.newThread();
        ToolBarrier before = till.holdBefore(thread);
        try (Plant plant = new Plant(TestServers.real(), till)) {
            plant.workflows();
            Plant.Half first = plant.activities();
            plant.start(thread, WISH);
            before.awaitArrival();
            Call call = plant.awaitCall(thread, Call.Status.CLAIMED);

            assertRefused(plant, thread, call, 1);
            first.kill();
            plant.activities();
            assertThat(plant.attend(thread).calls().get(call.id()).orElseThrow().status())
                    .isEqualTo(Call.Status.LOST);
            assertRefused(plant, thread, call, 1);
            assertRefused(plant, thread, call, 2);
            plant.check(thread, WISH);
        }
    }

    private static void assertRefused(Plant plant, String thread, Call call, int dispatch) {
        String execution = ClaimRequest.execution(plant.timeline(thread).runId(), 1, "zombie");
        ClaimRequest claim =
                new ClaimRequest(call.id(), dispatch, call.tool(), call.argsDigest(), call.repeat(), execution);
        assertThatThrownBy(() -> plant.stub(thread).update(SignalNames.CLAIM, ClaimRequest.Answer.class, claim))
                .isInstanceOf(WorkflowUpdateException.class)
                .cause()
                .hasMessageContaining("is not open");
    }
}
