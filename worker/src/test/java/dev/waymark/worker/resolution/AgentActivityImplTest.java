package dev.waymark.worker.resolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.tool.mcp.McpConnections;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import io.temporal.failure.ApplicationFailure;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AgentActivityImplTest {
    private static final AgentSpec HELPER = AgentSpec.of("helper", "scripted:helper");
    private static final AgentSpec OTHER = AgentSpec.of("other", "scripted:other");

    private static AgentActivityImpl among(AgentSpec... agents) {
        Path here = Path.of(".");
        return new AgentActivityImpl(
                AgentDirectory.of(here, List.of(agents)),
                new McpDiscovery(new McpConnections(Map.of(), here)),
                CallJudges.NONE,
                Optional::empty,
                agent -> Optional.empty());
    }

    @Test
    void missingName_meansTheOnlyAgent() {
        assertThat(among(HELPER).resolve(new AgentInput("", ThreadIdentity.RULES)))
                .isEqualTo(HELPER);
    }

    @Test
    void missingName_amongSeveralAgents_isRefusedWithTheirNames() {
        assertThatThrownBy(() -> among(HELPER, OTHER).resolve(new AgentInput("", ThreadIdentity.RULES)))
                .isInstanceOfSatisfying(
                        ApplicationFailure.class,
                        failure -> assertThat(failure.getType()).isEqualTo("AgentInvalid"))
                .hasMessageContaining("helper, other");
    }
}
