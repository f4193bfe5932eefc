package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.ThreadFixture;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PhasesLatestTest {
    @Test
    void latest_readAgain_knowsTheAgent() {
        CheckpointFixture thread = new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Hi")), false),
                new ModelFact.ModelCalled(1));
        Json latest = PhasesCheckpoint.latest(thread.timeline());

        assertThat(CheckpointReader.read(latest.canonical().getBytes(StandardCharsets.UTF_8), Instant.EPOCH)
                        .state()
                        .agent())
                .isEqualTo("helper");
    }

    @Test
    void latest_afterASummary_countsTheCallsThatItDropped() {
        AgentPolicy policy = new AgentPolicy("assistant", 10, Map.of("add", AgentPolicy.Executor.ACTIVITY))
                .withSummaries(new SummaryRule(1, 1));
        ThreadFixture thread = ThreadFixture.resolved(policy)
                .says("m1", "Add")
                .callsModel()
                .replies(new Part.Text("Adding"), new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT))
                .then(new ToolFact.ToolDispatched("tu_1", 1))
                .then(new ToolFact.ToolFinished("tu_1", 1, "3", false))
                .callsModel()
                .replies(new Part.ToolUse("tu_2", "add", Json.EMPTY_OBJECT))
                .then(new ToolFact.ToolDispatched("tu_2", 1))
                .then(new ToolFact.ToolFinished("tu_2", 1, "4", false));
        int step = thread.now().counters().steps() + 1;
        thread.then(new ModelFact.SummaryRequested(step))
                .then(new ModelFact.Summarised(step, Reply.of(new Part.Text("They added."))))
                .callsModel()
                .replies("Done");

        assertThat(thread.now().calls().toMap()).containsOnlyKeys("tu_2");
        assertThat(PhasesCheckpoint.latest(thread.timeline()).canonical()).contains("\"tool_calls\": 2");
    }
}
