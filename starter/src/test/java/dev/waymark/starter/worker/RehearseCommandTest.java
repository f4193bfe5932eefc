package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.ExitCode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.WaymarkCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rehearsals of threads in files. */
class RehearseCommandTest {
    private static final Path RECORDED = Path.of("../worker/src/test/resources/histories");

    @TempDir
    Path directory;

    private Path histories;
    private Path agents;

    record Said(int exitCode, String out, String err) {}

    @BeforeEach
    void recordings() throws IOException {
        histories = Files.createDirectory(directory.resolve("histories"));
        for (String name : List.of("parallel-tools.json", "plain-turn.json")) {
            Files.copy(RECORDED.resolve(name), histories.resolve(name));
        }
        agents = Files.createDirectory(directory.resolve("agents"));
        Files.writeString(agents.resolve("a.yaml"), "model: scripted:a.script.yaml");
        script("<b>Quite</b> another answer.");
    }

    private void script(String text) throws IOException {
        Files.writeString(agents.resolve("a.script.yaml"), "replies: [{ text: \"" + text + "\" }]");
    }

    private Said rehearse(String... more) {
        List<String> args = new ArrayList<>(List.of(
                "rehearse",
                "--histories",
                histories.toString(),
                "--agents",
                agents.toString(),
                "--answers",
                directory.resolve("kept").toString()));
        args.addAll(List.of(more));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = WaymarkCommand.execute(
                new PrintWriter(out, true), new PrintWriter(err, true), args.toArray(String[]::new));
        return new Said(exitCode, out.toString(), err.toString());
    }

    private Said allowed(String... more) {
        List<String> args = new ArrayList<>(List.of("--allow-provider", "scripted"));
        args.addAll(List.of(more));
        return rehearse(args.toArray(String[]::new));
    }

    @Test
    void otherProvider_withoutPermission_isRefused() {
        Said said = rehearse();

        assertThat(said.exitCode()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(said.err()).contains("would be sent to the provider scripted", "--allow-provider scripted");
        assertThat(directory.resolve("kept/answers")).doesNotExist();
    }

    @Test
    void differentDecisions_areShownBesideTheRecordedOnes() {
        Said said = allowed();

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out())
                .containsPattern("plain-turn\\.json {2}[0-9a-f-]{36}/e\\d+")
                .contains("turn 1: ", "  before: ", "another answer.")
                .contains(agents + ": ", " replies would change; 0 stay the same", "words only: ");
    }

    @Test
    void secondRun_callsNoModelAndPrintsTheSame() throws Exception {
        Said first = allowed("--json");
        Said second = allowed("--json");

        assertThat(second.out()).isEqualTo(first.out());
        assertThat(first.err()).doesNotContain("asked 0 times");
        assertThat(second.err()).contains("asked 0 times");
        script("A new script.");
        assertThat(allowed().err()).doesNotContain("asked 0 times");
    }

    @Test
    void failedCondition_setsTheExitCodeAndIsInEveryReport() throws Exception {
        Path html = directory.resolve("out/report.html");
        Path junit = directory.resolve("out/junit.xml");

        Said said = allowed(
                "--fail-on",
                "changed > 5%",
                "--fail-on",
                "asked-more",
                "--html",
                html.toString(),
                "--junit",
                junit.toString());

        assertThat(said.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(said.out())
                .contains("failed: replies that change: ")
                .contains(" (\"" + agents + "\", --fail-on 'changed > 5%')");
        assertThat(Files.readString(html))
                .contains(
                        "Failed: ",
                        "&lt;b&gt;Quite&lt;/b&gt; another",
                        "Contains parts of the conversations of 2 threads.")
                .doesNotContain("<script", "<b>", "http");
        assertThat(Files.readString(junit))
                .contains("tests=\"3\" failures=\"1\"", "name=\"not changed &gt; 5%\"", "plain-turn.json");
    }

    @Test
    void severalCandidates_areComparedSideBySide() throws Exception {
        Files.writeString(agents.resolve("b.script.yaml"), "replies: [{ text: Hm. }]");
        String one = "scripted:a.script.yaml";
        String other = "scripted:b.script.yaml";

        JsonNode report =
                PayloadJson.MAPPER.readTree(allowed("--model", one, "--model", other, "--votes", "3", "--json")
                        .out());

        assertThat(report.at("/rehearsal/candidates").findValuesAsText("name"))
                .containsExactly(agents + " with " + one, agents + " with " + other);
        JsonNode result = report.at("/rehearsal/candidates/1");
        assertThat(result.path("answers").asInt())
                .isEqualTo(3 * result.path("replies").asInt())
                .isPositive();
    }

    @Test
    void threadsOfOtherAgents_areNotRehearsed() throws Exception {
        Files.move(agents.resolve("a.yaml"), agents.resolve("b.yaml"));

        Said said = allowed();

        assertThat(said.err()).contains("not rehearsed: plain-turn.json: ", "it has no agent a");
        assertThat(said.out()).contains("no reply was rehearsed");
        assertThat(said.exitCode()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void gate_isPartOfTheSameRunAndReport() throws Exception {
        Path html = directory.resolve("report.html");
        Path junit = directory.resolve("junit.xml");

        Said said = allowed("--gate", "--html", html.toString(), "--junit", junit.toString());

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out())
                .contains(" replies would change; 0 stay the same")
                .endsWith("no problem in a thread\n")
                .contains("\npassed: 2 of 2 threads checked, ");
        assertThat(Files.readString(html))
                .contains(
                        "<p class=\"result passed\">Passed</p>",
                        "Can the threads continue with this build",
                        "Passed: 2 of 2 threads checked, ",
                        "another answer.");
        assertThat(Files.readString(junit)).contains("tests=\"3\" failures=\"0\"", "classname=\"gate\"");

        Files.move(agents.resolve("a.yaml"), agents.resolve("b.yaml"));
        Said missing = allowed("--gate", "--html", html.toString(), "--junit", junit.toString());

        assertThat(missing.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(missing.out()).contains("plain-turn.json: agent-missing: ", "failed: 2 of 2 threads checked, ");
        assertThat(Files.readString(html)).contains("Not passed", "plain-turn.json: agent-missing: ");
        assertThat(Files.readString(junit)).contains("<failure message=\"parallel-tools.json: agent-missing: ");
    }

    @Test
    void judgeAndChecks_areNamedInTheReport() throws Exception {
        Files.writeString(agents.resolve("a.checks.yaml"), "checks: [{ judged: It is polite }, { called: nothing }]");
        Files.writeString(agents.resolve("judge.script.yaml"), "replies: [{ text: \"YES\" }]");

        assertThat(allowed().err())
                .contains("a check of the thread parallel-tools.json is judged, but there is no judge");
        Said said = allowed("--judge", "scripted:judge.script.yaml", "--fail-on", "checks");

        assertThat(said.out())
                .contains("Judged by scripted:judge.script.yaml, answers: ")
                .contains("check called: nothing fails: it is never called", "checks: 2 of 4 fail");
        assertThat(said.exitCode()).isEqualTo(ExitCode.FAILED);
        Files.writeString(agents.resolve("a.checks.yaml"), "checks: [{ caled: x }]");
        assertThat(allowed().err()).contains("invalid checks: ", "a.checks.yaml:1");
    }

    /** The checks beside a thread take the place of the agent's, and other agents have no thread here. */
    @Test
    void judge_isNotNeeded_ifNoCheckOfTheThreadsIsJudged() throws Exception {
        Files.writeString(agents.resolve("other.yaml"), "model: scripted:a.script.yaml");
        for (String agent : List.of("a", "other")) {
            Files.writeString(agents.resolve(agent + ".checks.yaml"), "checks: [{ judged: It is polite }]");
        }
        for (String thread : List.of("parallel-tools", "plain-turn")) {
            Files.writeString(histories.resolve(thread + ".checks.yaml"), "checks: [{ text_matches: another }]");
        }

        Said said = allowed();

        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out()).contains("checks: 0 of 2 fail");
    }

    @Test
    void continuation_isPrinted() {
        assertThat(allowed("--continue", "2").out()).contains("  then:            the turn is complete");
    }

    @Test
    void continuation_usesScriptedResultsAndRunsNoTool() throws Exception {
        Files.writeString(agents.resolve("a.yaml"), """
                model: scripted:a.script.yaml
                tools:
                  - { name: look, description: Looks, command: [/bin/echo, seen], safe_to_retry: true }
                """);
        Files.writeString(
                agents.resolve("a.script.yaml"),
                "replies: [{ tool_calls: [{ id: t, name: look, input: {} }] }, { text: \"Done.\" }]");
        String[] each = {"--sample", "1", "--continue", "2"};

        assertThat(allowed(each).out())
                .contains("then:            stopped before look {}: there is no result of this call");
        Path results = Files.writeString(directory.resolve("results.yaml"), "results: [{ tool: look, result: x }]");
        assertThat(allowed(more(each, "--results", results.toString())).out())
                .contains("then:            look {} → x (scripted)", "then:            says: Done.");
        Files.writeString(results, "results: [{ result: x }]");
        assertThat(allowed(more(each, "--results", results.toString())).err())
                .contains("invalid results: ", "results.yaml:1: results[0].tool");
    }

    /** A thread file may come from anyone, and may name any program as a tool, a check or an MCP server. */
    @Test
    void programsNamedByAThreadFile_areNotStarted() throws Exception {
        Path left = directory.resolve("left");
        List<String> program = List.of("/usr/bin/touch", left.toString());
        List<ToolSpec> tools = List.of(
                ToolSpec.command("look", program.toArray(String[]::new))
                        .safeToRetry()
                        .build(),
                ToolSpec.command("pay", program.toArray(String[]::new))
                        .verify(program.toArray(String[]::new))
                        .build(),
                ToolSpec.mcp("find", McpServer.program("files", program, Map.of()), "find")
                        .safeToRetry()
                        .build());
        nameInFile(histories.resolve("plain-turn.json"), tools);
        for (ToolSpec tool : tools) {
            Files.writeString(
                    agents.resolve("a.script.yaml"),
                    "replies: [{ tool_calls: [{ id: t, name: " + tool.name()
                            + ", input: {} }] }, { text: \"Done.\" }]");
            Said said = allowed(
                    "--recorded", "--model", "scripted:a.script.yaml", "--continue", "3", "--gate", "--votes", "2");

            assertThat(said.out())
                    .contains(
                            "then:            stopped before " + tool.name() + " {}: there is no result of this call");
            assertThat(left).as(tool.name()).doesNotExist();
        }
        assertThat(new ProcessBuilder(program).start().waitFor()).isZero();
        assertThat(left).as("the program works").exists();
    }

    /** Gives the recorded agent these tools. */
    private static void nameInFile(Path file, List<ToolSpec> tools) throws IOException {
        JsonNode history = PayloadJson.MAPPER.readTree(file.toFile());
        for (JsonNode event : history.get("events")) {
            JsonNode payload =
                    event.path("activityTaskCompletedEventAttributes").at("/result/payloads/0");
            if (payload.isObject()) {
                AgentSpec agent =
                        PayloadJson.MAPPER.readValue(payload.get("data").binaryValue(), AgentSpec.class);
                byte[] changed = PayloadJson.MAPPER.writeValueAsBytes(
                        agent.with().tools(tools).build());
                ((ObjectNode) payload).put("data", changed);
                break;
            }
        }
        PayloadJson.MAPPER.writeValue(file.toFile(), history);
    }

    private static String[] more(String[] words, String... others) {
        return Stream.concat(Stream.of(words), Stream.of(others)).toArray(String[]::new);
    }

    @Test
    void wrongUse_isExplained() {
        assertThat(allowed("--fail-on", "worse").err()).contains("--fail-on: expected one of changed, near,");
        assertThat(allowed("--votes", "0").err()).contains("--votes is not a positive number: 0");
        assertThat(allowed("--model", "nobody:x").err()).contains("the model can't be used: expected PROVIDER:MODEL");
        assertThat(allowed("trip").err()).contains("threads are chosen in several ways");
        assertThat(allowed("--from", "3").err()).contains("--from needs one thread, by name", "rehearse trip --from 3");
        assertThat(allowed("--safe-tools", "live").err()).contains("Unknown option: '--safe-tools'");
        assertThat(allowed("--max-usd", "-1").exitCode()).isEqualTo(ExitCode.BAD_INPUT);
    }
}
