package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.StateDigest;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.history.DigestAudit;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VerifierTest {
    private final ThreadFixture fixture =
            ThreadFixture.resolved().says("m1", "Hi").callsModel().replies("Hello.");

    @Test
    void differences_ofEqualStates_areNone() {
        assertThat(Verifier.differences(report(fixture.now()), audit(Optional.of(fixture.now()))))
                .isEmpty();
    }

    @Test
    void differences_ofAnotherState_nameTheParts() {
        StateReport before = report(fixture.now());
        Conversation later = fixture.says("m2", "Again").callsModel().now();

        assertThat(Verifier.differences(before, audit(Optional.of(later))))
                .hasSize(3)
                .anySatisfy(
                        difference -> assertThat(difference).startsWith("transcript at run-1/e9: the workflow says "))
                .anySatisfy(difference -> assertThat(difference).startsWith("state at run-1/e9: "))
                .contains("facts at run-1/e9: the workflow says 6, the projection 8");
    }

    @Test
    void differences_withoutAProjection_areReported() {
        assertThat(Verifier.differences(report(fixture.now()), audit(Optional.empty())))
                .hasSize(1);
    }

    private static StateReport report(Conversation state) {
        return new StateReport(
                state.transcript().digest(),
                9,
                state.rules(),
                StateDigest.of(state),
                state.counters().facts());
    }

    private static DigestAudit audit(Optional<Conversation> state) {
        return new DigestAudit("run-1", 1, 1, List.of(), List.of(), state, state, false);
    }
}
