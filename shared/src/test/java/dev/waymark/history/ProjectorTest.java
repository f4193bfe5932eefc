package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.ThreadIdentity;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProjectorTest {
    private final WrittenHistory history = new WrittenHistory()
            .started(StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hello")))
            .task()
            .activityScheduled(WireNames.AGENT_ACTIVITY, new AgentInput("assistant", ThreadIdentity.RULES))
            .activityCompleted(AgentSpec.of("assistant", "scripted:x"))
            .task();
    private final String digest = Transcript.EMPTY
            .plus(new Transcript.Entry("m1", Instant.EPOCH, Optional.of("m1"), Message.user("Hello")))
            .digest();

    @Test
    void modelCall_recordedDigestFits_isNoMismatch() {
        Projector projector = history.activityScheduled(
                        WireNames.MODEL_ACTIVITY, new ModelInput(1, 1, digest.substring(0, 32), false))
                .projected();

        assertThat(projector.modelCalls()).isEqualTo(1);
        assertThat(projector.mismatches()).isEmpty();
    }

    @Test
    void modelCall_recordedDigestIsNearlyNone_isAMismatch() {
        Projector projector = history.activityScheduled(
                        WireNames.MODEL_ACTIVITY, new ModelInput(1, 1, digest.substring(0, 31), false))
                .projected();

        assertThat(projector.mismatches()).hasSize(1);
    }

    @Test
    void modelCall_recordedDigestDiffers_isAMismatch() {
        ModelInput recorded = new ModelInput(1, 1, "0".repeat(32), false);
        Projector projector =
                history.activityScheduled(WireNames.MODEL_ACTIVITY, recorded).projected();

        assertThat(projector.mismatches()).containsExactly(new DigestMismatch("run-1", 10, recorded, digest, 1));
    }

    @Test
    void modelCall_recordedCountDiffers_isAMismatch() {
        ModelInput recorded = new ModelInput(1, 2, digest.substring(0, 32), false);
        Projector projector =
                history.activityScheduled(WireNames.MODEL_ACTIVITY, recorded).projected();

        assertThat(projector.mismatches()).containsExactly(new DigestMismatch("run-1", 10, recorded, digest, 1));
    }

    @Test
    void workflowTask_untilItIsStarted_awaitsAWorker() {
        assertThat(history.projected().waitingTask()).isEmpty();
        assertThat(history.taskScheduled().projected().waitingTask()).isPresent();
        assertThat(history.taskStarted().projected().waitingTask()).isEmpty();
    }
}
