package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.starter.WaymarkCommand;
import dev.waymark.worker.agents.AgentDefinitions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gate, with threads in files. */
@Tag("full")
class GateCommandTest {
    private static final Path RECORDED = Path.of("../worker/src/test/resources/histories");

    @TempDir
    Path directory;

    private Path histories;

    record Said(int exitCode, String out, String err) {}

    @BeforeEach
    void recordings() throws IOException {
        histories = Files.createDirectory(directory.resolve("histories"));
        for (String name :
                new String[] {"parallel-tools-with-an-activity-each.json", "approved-claimed-and-denied-by-time.json"
                }) {
            Files.copy(RECORDED.resolve(name), histories.resolve(name));
        }
    }

    private Said gate(String... more) {
        String[] args = new String[more.length + 3];
        args[0] = "gate";
        args[1] = "--histories";
        args[2] = histories.toString();
        System.arraycopy(more, 0, args, 3, more.length);
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = WaymarkCommand.execute(new PrintWriter(out, true), new PrintWriter(err, true), args);
        return new Said(exitCode, out.toString(), err.toString());
    }

    private Path agent(String name) throws IOException {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("a.script.yaml"), "replies: [{ text: Hello. }]");
        Files.writeString(agents.resolve(name + ".yaml"), "model: scripted:a.script.yaml");
        return agents;
    }

    /** The beginning of the finding about a thread whose rules this version does not know. */
    private static final String UNKNOWN = "unknown\\.json: rules at [0-9a-f-]{36}/";

    @Test
    void thisBuild_passes() throws Exception {
        Said said = gate("--agents", agent("a").toString());

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out()).startsWith("passed: 2 of 2 threads checked, ").endsWith("no problem in a thread\n");
    }

    @Test
    void agentsWrittenByAnApplication_replaceAgentFiles() throws Exception {
        Path here = directory.resolve("agents.json");
        Path elsewhere = directory.resolve("others.json");
        AgentDefinitions.write(here, List.of(AgentSpec.of("a", "ours:any")));
        AgentDefinitions.write(elsewhere, List.of(AgentSpec.of("b", "ours:any")));
        Path broken = Files.writeString(directory.resolve("broken.json"), "{}");

        assertThat(gate("--agents", here.toString()).exitCode()).isZero();
        assertThat(gate("--agents", elsewhere.toString()).out()).contains("agent-missing: no agent of this name");
        assertThat(gate("--agents", broken.toString()).out())
                .contains("broken.json:1: expected a JSON object with a list of agents");
    }

    @Test
    void sameBuild_inASeparateProcess_passes() throws Exception {
        Path build = ChangedBuild.same(Files.createDirectory(directory.resolve("build")));

        Said said = gate("--build", build.toString(), "--agents", agent("a").toString(), "--json");

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(PayloadJson.MAPPER.readTree(said.out()).path("passed").asBoolean())
                .isTrue();
    }

    @Test
    void buildWithOtherDecision_failsAtThreadAndEvent() throws Exception {
        Path build = ChangedBuild.with(
                Files.createDirectory(directory.resolve("build")),
                "rule/Decider",
                "running < MAX_PARALLEL_CALLS",
                "running < 1");

        Said said = gate("--build", build.toString(), "--json");

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        JsonNode report = PayloadJson.MAPPER.readTree(said.out()).path("gate");
        assertThat(report.path("findings").size()).isPositive();
        assertThat(report.path("findings")).anySatisfy(finding -> {
            assertThat(finding.path("thread").asText()).isEqualTo("parallel-tools-with-an-activity-each.json");
            assertThat(finding.path("kind").asText()).isEqualTo("nondeterminism");
            assertThat(finding.path("event").asLong()).isPositive();
            assertThat(finding.path("message").asText())
                    .startsWith("the workflow code of this build decides otherwise than the thread did: ");
        });
    }

    @Test
    void buildWithOtherPrompt_failsAtTheModelCall() throws Exception {
        Path build = ChangedBuild.with(
                Files.createDirectory(directory.resolve("build")),
                "call/ToolTexts",
                "Nobody decided in time. ",
                "Too late. ");

        Said said = gate("--build", build.toString());

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        assertThat(said.out())
                .matches("(?s)approved-claimed-and-denied-by-time\\.json: projection at [0-9a-f-]{36}/e\\d+: this build"
                        + " would give the model another conversation here than it was given: \\d+ messages instead of"
                        + " \\d+ .*failed: 2 of 2 threads checked, .*problems in 1\n");
    }

    /** As before a rollback, or with a thread of a development build. The other threads are checked, too. */
    @ParameterizedTest
    @ValueSource(ints = {ThreadIdentity.FIRST_RULES - 1, ThreadIdentity.RULES + 1})
    void threadWithUnknownRules_isNamedAndOthersAreChecked(int rules) throws Exception {
        addThreadOfRules(rules);

        Said said = gate("--agents", agent("a").toString());

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        assertThat(said.out())
                .containsPattern(UNKNOWN)
                .contains("this thread goes by rules " + rules + "; this version of Waymark knows rules 11. ")
                .contains("failed: 3 of 3 threads checked, ")
                .contains("problems in 1\n");
    }

    /** A rollback while threads of newer rules are open: their findings are accepted, and others are not. */
    @Test
    void acceptedFindings_passWhileOthersFail() throws Exception {
        addThreadOfRules(ThreadIdentity.RULES + 1);
        Path accepted = directory.resolve("accepted.txt");
        Files.writeString(accepted, gate().out().lines().findFirst().orElseThrow() + "\n");

        Path page = directory.resolve("page.html");
        Said full = gate("--accept", accepted.toString(), "--html", page.toString());
        Files.writeString(accepted, "# known since May\n\nunknown.json: rules\n");
        Said beginning = gate("--accept", accepted.toString());
        Files.writeString(accepted, "unknown.json: projection\nunknown\n");
        Said other = gate("--accept", accepted.toString());

        assertThat(full.exitCode()).as(full.toString()).isZero();
        assertThat(full.out())
                .matches("passed: 3 of 3 threads checked, \\d+ events, no problem in a thread, accepted"
                        + " findings: 1\n");
        assertThat(page).content().containsPattern("accepted: " + UNKNOWN);
        assertThat(beginning).isEqualTo(full);
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.out()).containsPattern(UNKNOWN);
        assertThat(gate("--accept", "/nowhere.txt").exitCode()).isEqualTo(3);
    }

    /** Workers ignore it from its first task on, so no task has completed. */
    @Test
    void unstartedThreadWithUnknownRules_isNamed() throws Exception {
        addThreadOfRules(10);
        Path file = histories.resolve("unknown.json");
        ObjectNode document = (ObjectNode) PayloadJson.MAPPER.readTree(file.toFile());
        ArrayNode events = (ArrayNode) document.path("events");
        while (events.size() > 2) {
            events.remove(2);
        }
        Files.writeString(file, document.toString());

        Said said = gate("--agents", agent("a").toString());

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        assertThat(said.out()).containsPattern(UNKNOWN + "e1: this thread goes by rules 10");
    }

    /** A later release knows one more version of the rules, and continues the threads of this release. */
    @Test
    void buildWithMoreRules_passesThreadsOfBoth() throws Exception {
        addThreadOfRules(ThreadIdentity.RULES + 1);
        Path build = ChangedBuild.with(
                Files.createDirectory(directory.resolve("build")),
                "state/UnknownRulesException",
                "rules > ThreadIdentity.RULES) {",
                "rules > ThreadIdentity.RULES + 1) {");

        assertThat(gate().exitCode()).isEqualTo(1);
        Said said = gate("--build", build.toString());

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out()).contains("3 of 3 threads checked");
    }

    private void addThreadOfRules(int rules) throws IOException {
        ObjectNode document = (ObjectNode)
                PayloadJson.MAPPER.readTree(RECORDED.resolve("plain-turn.json").toFile());
        ObjectNode input =
                (ObjectNode) document.at("/events/0/workflowExecutionStartedEventAttributes/input/payloads/0");
        ObjectNode start = (ObjectNode) PayloadJson.MAPPER.readTree(
                Base64.getDecoder().decode(input.path("data").asText()));
        start.put("rules", rules);
        input.put("data", Base64.getEncoder().encodeToString(PayloadJson.MAPPER.writeValueAsBytes(start)));
        Files.writeString(histories.resolve("unknown.json"), document.toString());
    }

    @Test
    void missingAgent_isNamedWithItsThreads() throws Exception {
        Said said = gate("--agents", agent("b").toString(), "--sample", "1");

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        assertThat(said.out())
                .contains("json: agent-missing: no agent of this name in the directory: a\n")
                .contains("failed: 1 of 2 threads checked");
    }

    @Test
    void invalidAgentFile_isNamedWithItsThreads() throws Exception {
        Path agents = agent("a");
        Files.writeString(agents.resolve("a.yaml"), "model: scripted:a.script.yaml\nmax_iteratons: 3\n");

        Said said = gate("--agents", agents.toString());

        assertThat(said.exitCode()).as(said.toString()).isEqualTo(1);
        assertThat(said.out())
                .contains("parallel-tools-with-an-activity-each.json: agent-invalid: " + agents.resolve("a.yaml")
                        + ":2: ")
                .contains("agents: a worker would not start: " + agents.resolve("a.yaml") + ":2: ");
    }

    @Test
    void unusableThreadOrBuild_isRefusedWithTheReason() throws Exception {
        Files.writeString(histories.resolve("other.json"), "{}");
        assertThat(gate().err()).contains("not an exported thread: " + histories.resolve("other.json"));
        assertThat(gate("--build", directory.toString()).err()).contains("the build has no gate command: " + directory);
        Path application = directory.resolve("restaurant-1.0.jar");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(application))) {
            jar.putNextEntry(new JarEntry("BOOT-INF/classpath.idx"));
        }
        assertThat(gate("--build", application.toString()).err())
                .contains("a Spring Boot application has no gate command: " + application)
                .contains("java -jar " + application + " --waymark.write-agents=agents.json")
                .contains("gate --agents agents.json");
        assertThat(gate("--build", "/nowhere.jar").exitCode()).isEqualTo(3);
        assertThat(gate("--sample", "0").exitCode()).isEqualTo(2);
        assertThat(gate("--query", "StartTime > '2026-01-01'").exitCode()).isEqualTo(2);
    }
}
