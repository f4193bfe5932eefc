package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The order in which a chain records tools and subagents that run at the same time. */
class SubagentPhasesTest {
    private static final Optional<String> NONE = Optional.empty();
    private static final Part.ToolUse ADD = new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT);
    private static final Part.ToolUse SCOUT = new Part.ToolUse("tu_2", "scout", Json.of(Map.of("task", "look")));

    private CheckpointFixture fixture;

    private void begin(Part.ToolUse... uses) {
        Reply reply = new Reply(List.of(uses), Usage.NONE, "tool_use");
        fixture = new CheckpointFixture(
                new PersonFact.UserSpoke(NONE, Optional.empty(), Optional.of(Message.user("Go")), false),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(1, reply));
    }

    private void delegate() {
        fixture.with(new SubagentFact.SubagentStarted("tu_2", Optional.empty()));
    }

    private void addFinishes() {
        fixture.with(new ToolFact.ToolDispatched("tu_1", 1));
        fixture.with(new ToolFact.ToolFinished("tu_1", 1, "3", false));
    }

    private void scoutFinishes(String status) {
        fixture.with(new SubagentFact.SubagentFinished("tu_2", status, "seen", Optional.empty(), Optional.empty()));
    }

    private List<Json> chain() {
        return PhasesCheckpoint.chain(fixture.timeline());
    }

    /** The phases that the chain records after the reply, without snapshots. */
    private List<Object> phases() {
        List<Object> phases = new ArrayList<>(chain().stream()
                .map(each -> each.field("phase"))
                .filter(phase -> !"runtime_state".equals(phase))
                .toList());
        return phases.subList(phases.indexOf("post_llm") + 1, phases.size());
    }

    private Object payload(String phase) {
        return chain().stream()
                .filter(each -> phase.equals(each.field("phase")))
                .findFirst()
                .orElseThrow()
                .field("payload");
    }

    @Test
    void toolsAndSubagents_areTwoBatchesOneAfterTheOther() {
        for (boolean toolIsFirst : List.of(true, false)) {
            begin(ADD, SCOUT);
            delegate();
            if (toolIsFirst) {
                addFinishes();
                assertThat(phases()).containsExactly("pre_tool_batch", "post_tool_batch", "pre_subagent_batch");
                scoutFinishes("complete");
            } else {
                scoutFinishes("complete");
                assertThat(phases()).containsExactly("pre_tool_batch");
                addFinishes();
            }
            assertThat(phases())
                    .containsExactly("pre_tool_batch", "post_tool_batch", "pre_subagent_batch", "post_subagent_batch");
        }
    }

    @Test
    void subagentAlone_hasABatchAndARow() {
        begin(SCOUT);
        delegate();
        scoutFinishes("budget");

        assertThat(phases()).containsExactly("pre_subagent_batch", "post_subagent_batch");
        assertThat(payload("pre_subagent_batch"))
                .isEqualTo(Map.of("targets", List.of("scout"), "router_parallel", false));
        assertThat(payload("post_subagent_batch")).isEqualTo(Map.of("success_count", 0L, "failure_count", 1L));
        Map<?, ?> snapshot = (Map<?, ?>) chain().get(chain().size() - 1).field("payload");
        assertThat(snapshot.get("tool_executions")).isEqualTo(List.of());
        Map<?, ?> row = (Map<?, ?>) ((List<?>) snapshot.get("subagent_executions")).get(0);
        assertThat(row.get("subagent_name")).isEqualTo("scout");
        assertThat(row.get("error")).isEqualTo("Tool error: the subagent scout ended as budget\nseen");
    }

    @Test
    void questionOfASubagent_isAPause() {
        begin(SCOUT);
        delegate();
        PendingItem ask = PendingItem.of(
                Call.issued(new Part.ToolUse("tu_9", "ask_user", Json.EMPTY_OBJECT), 1, CheckpointFixture.START)
                        .asking("Day?", CheckpointFixture.START),
                Optional.empty());
        fixture.with(
                new SubagentFact.SubagentReported("tu_2", new SubagentProgress(true, List.of(ask), Spent.NOTHING)));

        assertThat(phases()).containsExactly("pre_subagent_batch", "paused");
        assertThat(payload("paused")).isEqualTo(Map.of("kind", "user_input", "prompt", "Day?"));

        fixture.with(new PersonFact.HumanAnswered(NONE, Optional.of("tu_2/tu_9"), "Friday", NONE));
        assertThat(phases()).containsExactly("pre_subagent_batch", "paused", "resumed");
    }
}
