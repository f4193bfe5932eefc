package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.ThreadHistory;
import dev.waymark.timeline.Timeline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Applies rules to the calls of a recorded thread. */
class RuleTrialTest {
    private static final Path RECORDED =
            Path.of("../worker/src/test/resources/histories/allowed-denied-and-asked-by-rules.json");

    private Timeline timeline;
    private AgentSpec recorded;

    @BeforeEach
    void read() throws Exception {
        timeline = ThreadHistory.parse(Files.readString(RECORDED)).timeline();
        recorded = timeline.agent().orElseThrow();
    }

    private RuleTrial.Result tried(AgentSpec agent) {
        return RuleTrial.of(agent, timeline, Optional.empty());
    }

    @Test
    void recordedRules_decideAsRecorded() {
        assertThat(tried(recorded).calls()).isGreaterThan(2);
        assertThat(tried(recorded).differences()).isEmpty();
    }

    @Test
    void agentThatAsksAboutEveryCall_differsForCallsThatRanWithoutARequest() {
        List<ToolSpec> asking = recorded.tools().stream()
                .map(tool ->
                        tool.isRuled() ? tool.with().rules(List.of()).approval().build() : tool)
                .toList();

        List<RuleTrial.Difference> differences =
                tried(recorded.with().tools(asking).build()).differences();

        assertThat(differences).isNotEmpty();
        assertThat(differences).allSatisfy(difference -> {
            assertThat(difference.then()).isNotEqualTo(CallVerdict.Then.ASK);
            assertThat(difference.now().then()).isEqualTo(CallVerdict.Then.ASK);
        });
    }

    @Test
    void ruleAboutUntrustedWords_isNotKnownInAThreadWithoutMarks() {
        List<ToolSpec> guarded = recorded.tools().stream()
                .map(tool -> tool.isRuled()
                        ? tool.with()
                                .rules(List.of(ApprovalRule.deny("").whenUntrusted(ApprovalRule.Untrusted.EVER)))
                                .build()
                        : tool)
                .toList();

        assertThat(tried(recorded.with().tools(guarded).build()))
                .isEqualTo(new RuleTrial.Result(timeline.thread(), 0, List.of(), true));
        assertThat(tried(recorded).notKnown()).isFalse();
    }

    @Test
    void removedTool_isNotCompared() {
        assertThat(tried(recorded.with().tools(List.of()).build()).calls()).isZero();
    }
}
