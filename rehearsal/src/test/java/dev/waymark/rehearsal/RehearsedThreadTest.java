package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.history.HistoryRehearsal;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.RehearsedAgents;
import dev.waymark.testkit.RehearsedThread;
import dev.waymark.worker.Agent;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RehearsedThreadTest {
    private static final String WORK = "target/rehearsed-thread";
    private static final Path HISTORIES = Path.of("../worker/src/test/resources/histories");
    private static final String PLAIN = "/plain-turn.json";

    @BeforeAll
    static void write() throws IOException {
        Path agents = Files.createDirectories(Path.of(WORK, "agents"));
        Files.writeString(agents.resolve("a.yaml"), "model: scripted:a.script.yaml");
        Files.writeString(agents.resolve("a.script.yaml"), "replies: [{ text: \"You said: Hello\" }]");
        Path kept = Files.createDirectories(Path.of(WORK, "kept"));
        for (String name : List.of("plain-turn", "parallel-tools")) {
            Files.writeString(kept.resolve(name + ".json"), Files.readString(HISTORIES.resolve(name + ".json")));
            Files.writeString(kept.resolve(name + ".checks.yaml"), "checks: [{ text_matches: \"You said\" }]");
        }
    }

    /** The last reply of one of the threads changes, but its checks still pass. */
    @RehearsedThread(
            value = {WORK + "/kept" + PLAIN, WORK + "/kept"},
            agents = WORK + "/agents",
            allowedProviders = "scripted")
    void agents_decideAsExpected() {}

    /** An agent in Java, with a model of its own, and no directory of agents. */
    private record Supplied() implements RehearsedAgents {
        @Override
        public List<AgentSpec> agents() {
            return List.of(agent("parrot:any").spec());
        }

        @Override
        public Map<String, ModelProvider> providers() {
            return Map.of("parrot", request -> Reply.of(new Part.Text("You said: Hello")));
        }
    }

    private static Agent agent(String model) {
        return Agent.named("a").model(model).pricing(Pricing.of("1", "2")).build();
    }

    @RehearsedThread(
            value = "../worker/src/test/resources/histories" + PLAIN,
            agents = WORK + "/none",
            javaAgents = Supplied.class,
            allowedProviders = "parrot")
    void agentInJava_decidesAsExpected() {}

    private static List<String> inJava(String agents, String model, ModelProvider provider) throws Exception {
        return new AgentRehearsal()
                .problems(
                        HISTORIES.resolve("plain-turn.json"),
                        new HistoryRehearsal.Settings(
                                Path.of(WORK, agents), List.of("changed"), Set.of("other"), BigDecimal.ONE),
                        new HistoryRehearsal.InJava(List.of(agent(model).spec()), Map.of("other", provider)));
    }

    @Test
    void agentInJava_decidingOtherwise_fails() throws Exception {
        assertThat(inJava("none", "other:any", request -> Reply.of(new Part.Text("No."))))
                .anyMatch(line -> line.contains("that change: 1"))
                .contains("  with the change: No.");
    }

    /** Without a directory of agents, paths begin where they do in a worker that has none. */
    @Test
    void agentInJava_withSkills_findsThemFromTheCurrentDirectory() throws Exception {
        Path skill = Files.createDirectories(Path.of(WORK, "skills/memo"));
        Files.writeString(skill.resolve("SKILL.md"), "---\nname: memo\ndescription: Memos\n---\n");
        Agent skilled = Agent.named("a")
                .model("other:any")
                .pricing(Pricing.of("1", "2"))
                .skills(Path.of(WORK, "skills"))
                .build();

        assertThat(new AgentRehearsal()
                        .problems(
                                HISTORIES.resolve("plain-turn.json"),
                                new HistoryRehearsal.Settings(
                                        Path.of(WORK, "none"), List.of("refused"), Set.of("other"), BigDecimal.ONE),
                                new HistoryRehearsal.InJava(
                                        List.of(skilled.spec()),
                                        Map.of("other", request -> Reply.of(new Part.Text("You said: Hello"))))))
                .isEmpty();
    }

    @Test
    void agentInJava_withoutItsProvider_isRefusedWithTheReason() throws Exception {
        assertThat(inJava("none", "absent:any", request -> Reply.of(new Part.Text("No."))))
                .startsWith("not rehearsed: plain-turn.json: agents in Java: there is no provider for absent:any");
    }

    @Test
    void agentInJava_withTheNameOfAFile_isRefused() {
        assertThatThrownBy(() -> inJava("agents", "other:any", request -> Reply.of(new Part.Text("No."))))
                .hasMessageContaining("a is also the name of an agent in Java");
    }

    private static List<String> problems(Path file, String... failOn) throws Exception {
        return new AgentRehearsal()
                .problems(
                        file,
                        new HistoryRehearsal.Settings(
                                Path.of(WORK, "agents"), List.of(failOn), Set.of("scripted"), BigDecimal.ONE),
                        new HistoryRehearsal.InJava(List.of(), Map.of()));
    }

    @Test
    void changedDecision_isReportedBesideTheRecordedOne() throws Exception {
        Path recorded = HISTORIES.resolve("parallel-tools.json");

        assertThat(problems(recorded))
                .anyMatch(line -> line.contains("that change: 2"))
                .contains("  with the change: You said: Hello")
                .anyMatch(line -> line.startsWith("  before:          weather "));
        assertThat(problems(recorded, "refused")).isEmpty();
        assertThat(problems(Path.of(WORK, "kept/parallel-tools.json"), "changed"))
                .anyMatch(line -> line.contains("that change: 1"));
    }

    @Test
    void judgedCheck_withoutAJudge_fails() throws Exception {
        Path judged = Files.createDirectories(Path.of(WORK, "judged"));
        Files.writeString(judged.resolve("one.json"), Files.readString(HISTORIES.resolve("plain-turn.json")));
        Files.writeString(judged.resolve("one.checks.yaml"), "checks: [{ judged: It is polite }]");

        assertThat(problems(judged.resolve("one.json")))
                .containsExactly(
                        "a check of the thread one.json is judged, but there is no judge: use waymark rehearse --judge");
    }
}
