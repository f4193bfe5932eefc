package dev.waymark.worker.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.resolution.AgentActivityImpl;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.McpConnections;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agent files that change while a worker runs. */
class AgentRereadTest {
    private static final String MODEL = "model: scripted:a.script.yaml\n";

    @TempDir
    Path directory;

    private final List<String> problems = new ArrayList<>();
    private Instant lastChange = Instant.parse("2026-01-01T00:00:00Z");
    private ModelProviders providers;
    private AgentDirectory agents;

    @BeforeEach
    void load() throws Exception {
        Files.writeString(directory.resolve("a.script.yaml"), "replies: [{ text: Hello. }]");
        file("billing", "instructions: Bill.\n");
        file("other", "instructions: Wait.\n");
        providers = ModelProviders.of(Map.of("scripted", new ScriptedProvider(directory)));
        agents = AgentDirectory.load(directory, providers, JavaTools.NONE);
    }

    /** Each version of a file gets a different modification time, however fast the test runs. */
    private Path file(String name, String text) throws IOException {
        lastChange = lastChange.plusSeconds(1);
        Path file = Files.writeString(directory.resolve(name + ".yaml"), MODEL + text);
        return Files.setLastModifiedTime(file, FileTime.from(lastChange));
    }

    private void reread() throws IOException {
        agents = agents.reread(problem -> problems.add(String.valueOf(problem.getMessage())));
    }

    private String instructions(String name) {
        return agents.find(name).flatMap(AgentSpec::instructions).orElse("none");
    }

    @Test
    void reread_nothingChanged_isTheSame() throws Exception {
        AgentDirectory before = agents;
        reread();
        assertThat(agents).isSameAs(before);
    }

    @Test
    void reread_changedAddedAndRemovedFiles_areApplied() throws Exception {
        file("billing", "instructions: Bill twice.\n");
        file("third", "instructions: Come.\n");
        Files.delete(directory.resolve("other.yaml"));

        reread();

        assertThat(agents.names()).containsExactly("billing", "third");
        assertThat(instructions("billing")).isEqualTo("Bill twice.");
        assertThat(problems).isEmpty();
    }

    @Test
    void reread_invalidFile_keepsItsLastValidVersionAndSaysSoOnce() throws Exception {
        Path broken = file("billing", "instructons: Bill twice.\n");
        file("other", "instructions: Go.\n");

        reread();
        reread();

        assertThat(instructions("billing")).isEqualTo("Bill.");
        assertThat(instructions("other")).isEqualTo("Go.");
        assertThat(problems).singleElement().asString().startsWith(broken + ":2: instructons: ");

        file("other", "instructions: Go now.\n");
        reread();
        assertThat(instructions("billing")).isEqualTo("Bill.");
        assertThat(problems).hasSize(1);

        file("billing", "instructions: Bill thrice.\n");
        reread();
        assertThat(instructions("billing")).isEqualTo("Bill thrice.");
    }

    @Test
    void reread_contradictingAgents_changeNothingUntilTheyAgree() throws Exception {
        file("billing", "instructions: Ask.\nsubagents: [helper]\n");
        file("other", "instructions: Go.\n");

        reread();

        assertThat(instructions("billing")).isEqualTo("Bill.");
        assertThat(instructions("other")).isEqualTo("Wait.");
        assertThat(problems).singleElement().asString().contains("helper");

        file("helper", "description: Helps.\n");
        reread();

        assertThat(agents.find("billing").orElseThrow().tools())
                .extracting(ToolSpec::name)
                .containsExactly("helper");
        assertThat(instructions("other")).isEqualTo("Go.");
        assertThat(problems).hasSize(1);
    }

    @Test
    void reread_deletedFileThatAnAgentInJavaNeeds_changesNothingAndSaysSoOnce() throws Exception {
        ToolSpec billing = ToolSpec.subagent("billing", "Bills.");
        agents = agents.plus(List.of(AgentSpec.of("host", "scripted:a.script.yaml", billing)));
        Files.delete(directory.resolve("billing.yaml"));
        file("other", "instructions: Go.\n");

        reread();
        reread();

        assertThat(agents.names()).containsExactly("billing", "other", "host");
        assertThat(instructions("other")).isEqualTo("Wait.");
        assertThat(problems).singleElement().asString().contains("agent host: no such agent: billing");

        file("billing", "instructions: Bill again.\n");
        reread();

        assertThat(instructions("billing")).isEqualTo("Bill again.");
        assertThat(instructions("other")).isEqualTo("Go.");
        assertThat(problems).hasSize(1);
    }

    @Test
    void agentInJava_usedByAgentFiles_staysTheirSubagentAfterAChange() throws Exception {
        AgentSpec researcher = AgentSpec.of("researcher", "scripted:a.script.yaml")
                .with()
                .description("Finds out.")
                .build();
        file("billing", "subagents: [researcher]\n");
        agents = AgentDirectory.load(directory, providers, JavaTools.NONE, List.of(researcher))
                .plus(List.of(researcher));

        assertThat(agents.names()).containsExactly("billing", "other", "researcher");
        assertThat(agents.find("billing").orElseThrow().tools())
                .containsExactly(ToolSpec.subagent("researcher", "Finds out."));

        file("other", "subagents: [researcher]\n");
        reread();

        assertThat(problems).isEmpty();
        assertThat(agents.find("other").orElseThrow().tools())
                .containsExactly(ToolSpec.subagent("researcher", "Finds out."));
    }

    @Test
    void agentInJava_thatIsItsOwnSubagentThroughAFile_isRefused() throws Exception {
        AgentSpec host = AgentSpec.of("host", "scripted:a.script.yaml", ToolSpec.subagent("billing", "Bills."));
        file("billing", "subagents: [host]\n");

        assertThatThrownBy(() -> AgentDirectory.load(directory, providers, JavaTools.NONE, List.of(host)))
                .isInstanceOf(AgentInvalid.class)
                .hasMessageContaining("billing.yaml")
                .hasMessageContaining("an agent can't be its own subagent: billing → host → billing");
    }

    @Test
    void agentInJava_besideAnInvalidFile_isNotReported() throws Exception {
        AgentSpec researcher = AgentSpec.of("researcher", "scripted:a.script.yaml");
        file("billing", "subagents: [researcher, nobody]\n");
        file("other", "nonsense: 1\n");

        assertThatThrownBy(() -> AgentDirectory.load(directory, providers, JavaTools.NONE, List.of(researcher)))
                .isInstanceOf(AgentInvalid.class)
                .hasMessageContaining("no such agent: nobody. Known agents: billing, other, researcher")
                .hasMessageNotContaining("no such agent: researcher");
    }

    @Test
    void thread_startedAfterAChange_getsTheChangedFile() throws Exception {
        AgentActivityImpl activity =
                new AgentActivityImpl(agents, new McpDiscovery(new McpConnections(Map.of(), directory)));
        assertThat(activity.resolve(new AgentInput("billing", ThreadIdentity.RULES))
                        .instructions())
                .contains("Bill.");

        file("billing", "instructions: Bill twice.\n");
        assertThat(activity.resolve(new AgentInput("billing", ThreadIdentity.RULES))
                        .instructions())
                .contains("Bill twice.");

        file("billing", "nonsense: true\n");
        assertThat(activity.resolve(new AgentInput("billing", ThreadIdentity.RULES))
                        .instructions())
                .contains("Bill twice.");
    }
}
