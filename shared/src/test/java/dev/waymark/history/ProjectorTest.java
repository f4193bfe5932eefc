package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
    void modelCall_withTheRecordedDigest_matches() {
        Projector projector = history.activityScheduled(
                        WireNames.MODEL_ACTIVITY, new ModelInput(1, 1, digest.substring(0, 32), false))
                .projected();

        assertThat(projector.modelCalls()).isEqualTo(1);
        assertThat(projector.mismatches()).isEmpty();
    }

    @Test
    void modelCall_withATruncatedDigest_isAMismatch() {
        Projector projector = history.activityScheduled(
                        WireNames.MODEL_ACTIVITY, new ModelInput(1, 1, digest.substring(0, 31), false))
                .projected();

        assertThat(projector.mismatches()).hasSize(1);
    }

    @Test
    void modelCall_withAnotherDigest_isAMismatch() {
        ModelInput recorded = new ModelInput(1, 1, "0".repeat(32), false);
        Projector projector =
                history.activityScheduled(WireNames.MODEL_ACTIVITY, recorded).projected();

        assertThat(projector.mismatches()).containsExactly(new DigestMismatch("run-1", 10, recorded, digest, 1));
    }

    @Test
    void modelCall_withAnotherCount_isAMismatch() {
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

    private static final AgentSpec LOOKING = AgentSpec.of(
            "assistant",
            "scripted:x",
            ToolSpec.java("look")
                    .describedAs("Looks.", Json.of(Map.of()))
                    .safeToRetry()
                    .build());

    private static final ModelResult LOOKED = new ModelResult(
            Reply.of(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT)),
            List.of(new ModelResult.Ran("tu_1", ToolOutcome.result("red"))));

    private static WrittenHistory asked() {
        return new WrittenHistory()
                .started(StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hello")))
                .task()
                .activityScheduled(WireNames.AGENT_ACTIVITY, new AgentInput("assistant", ThreadIdentity.RULES))
                .activityCompleted(LOOKING)
                .task()
                .activityScheduled(
                        WireNames.MODEL_ACTIVITY,
                        new ModelInput(1, 1, "", false, Optional.empty(), true, Optional.empty()));
    }

    private static List<String> moments(WrittenHistory history) {
        List<String> moments = new ArrayList<>();
        Projector projector = new Projector(
                "run-1",
                moment -> moments.add(
                        moment.place() + " " + moment.fact().map(Fact::type).orElse("")));
        history.history().getEventsList().forEach(projector::accept);
        projector.pause();
        return moments;
    }

    @Test
    void replyWithOutcomes_isSeveralFactsOfOneEvent_andTheEventNamesTheLast() {
        WrittenHistory history = asked().activityCompleted(LOOKED).task();

        assertThat(moments(history)).endsWith("e11.0 model-replied", "e11.1 tool-dispatched", "e11 tool-finished");
        assertThat(history.projected().expectedState().orElseThrow().uncommittedResults())
                .hasSize(1);
    }

    /** Readers see arrived events like the workflow will, even before a worker takes them. */
    @Test
    void replyWithOutcomes_notSeenYet_isExpected() {
        Projector projector = asked().activityCompleted(LOOKED).projected();

        assertThat(projector.state().orElseThrow().modelCalled()).isTrue();
        assertThat(projector.expectedState().orElseThrow().uncommittedResults()).hasSize(1);
    }

    @Test
    void replyWithOutcomes_noLongerAwaited_countsOnlyForItsCost() {
        WrittenHistory history = asked().signalled(SignalNames.STOP, Map.of())
                .activityCompleted(10, LOOKED)
                .task();

        assertThat(moments(history)).endsWith("e11 stopped", "e12 model-replied");
        assertThat(history.projected().expectedState().orElseThrow().calls().size())
                .isZero();
    }

    @Test
    void start_withAMessage_isSeveralFactsOfOneEvent() {
        assertThat(moments(history)).startsWith("e1.0 run-started", "e1 user-spoke");
    }
}
