package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.contract.RunLimits;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Turn;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@Tag("full")
class ChunkedStateServerTest extends ChunkedStateCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }

    /** Tested here, because only the real server has limits. */
    @Test
    void stateOfEightMegabytes_isTransferredTwice() {
        try (WorkflowRig rig = new WorkflowRig(connection(), fourCallsATime(10), noisyStep(250_000))
                .with(agent -> agent.fuse(Duration.ZERO))) {
            String thread = rig.start(ContinueAsNewCases.start(RunLimits.DEFAULT.withSoftEvents(120))
                    .saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Timeline timeline = awaitLarge(rig, thread, now -> now.now().isSettled());

            Conversation state = timeline.now();
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(state.transcript().bytes()).isGreaterThan(10_000_000);
            assertThat(ContinueAsNewCases.runs(timeline)).hasSizeGreaterThanOrEqualTo(3);
            assertThat(rig.fetchesOfStates()).isGreaterThan(12);
            assertThat(largestCarried(timeline)).isGreaterThan(8_000_000);
            List<Message> messages = state.transcript().messages();
            assertThat(messages).hasSize(22);
            assertThat(messages.get(20).toolResults().get(3).content()).isEqualTo(noise("n9.3", 250_000));
            assertThat(state.transcript().digest()).isEqualTo(ContinueAsNewCases.digestOf(messages));
            assertThat(rig.audit(thread).mismatches()).isEmpty();
        }
    }

    private static long largestCarried(Timeline timeline) {
        return timeline.moments().stream()
                .filter(moment -> moment.fact().isEmpty())
                .mapToLong(moment -> moment.state().transcript().bytes())
                .max()
                .orElse(0);
    }
}
