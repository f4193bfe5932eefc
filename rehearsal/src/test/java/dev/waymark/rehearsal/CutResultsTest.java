package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.ThreadFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CutResultsTest {
    private static final String LONG = "0123456789".repeat(1_000);

    /** The rehearsed agent cuts the result by its own rule, and reads on by the handle of its own call. */
    @Test
    void recordedResult_thatWasCut_isGivenWhole() {
        AgentPolicy policy = new AgentPolicy("assistant", 10, Map.of("look", AgentPolicy.Executor.ACTIVITY))
                .withResults(new ResultRule(4 * 1024));
        ThreadFixture thread = ThreadFixture.resolved(policy)
                .says("m1", "Look")
                .callsModel()
                .replies(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT))
                .then(new ToolFact.ToolDispatched("tu_1", 1))
                .then(new ToolFact.ToolFinished("tu_1", 1, LONG, false))
                .callsModel();

        Part.ToolResult result = new RecordedResults(thread.timeline())
                .of(thread.now().calls().get("tu_1").orElseThrow(), 0)
                .orElseThrow();

        assertThat(result.content()).isEqualTo(LONG);
    }

    @Test
    void otherRuleForResults_isADifference() {
        AgentSpec before = AgentSpec.of("a", "scripted:any");
        AgentSpec now = before.with().results(ResultRule.DEFAULT).build();

        assertThat(AgentDifferences.of(before, now))
                .containsExactly("a new tool `read_result`", "how long a result is shown");
    }
}
