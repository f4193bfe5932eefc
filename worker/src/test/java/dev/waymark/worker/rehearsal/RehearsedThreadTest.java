package dev.waymark.worker.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.history.HistoryRehearsal;
import dev.waymark.testkit.RehearsedThread;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Threads that are rehearsed as tests. */
class RehearsedThreadTest {
    private static final String WORK = "target/rehearsed-thread";
    private static final Path HISTORIES = Path.of("src/test/resources/histories");
    private static final String PLAIN = "/plain-turn.json";

    @BeforeAll
    static void write() throws IOException {
        Path agents = Files.createDirectories(Path.of(WORK, "agents"));
        Files.writeString(agents.resolve("a.yaml"), "model: scripted:a.script.yaml");
        Files.writeString(agents.resolve("a.script.yaml"), "replies: [{ text: \"You said: Hello\" }]");
        Path dataset = Files.createDirectories(Path.of(WORK, "dataset"));
        for (String name : List.of("plain-turn", "parallel-tools")) {
            Files.writeString(dataset.resolve(name + ".json"), Files.readString(HISTORIES.resolve(name + ".json")));
            Files.writeString(dataset.resolve(name + ".checks.yaml"), "checks: [{ text_matches: \"You said\" }]");
        }
    }

    /** The last decision of one of the threads changes, but what is expected there holds. */
    @RehearsedThread(
            value = {WORK + "/dataset" + PLAIN, WORK + "/dataset"},
            agents = WORK + "/agents",
            allowedProviders = "scripted")
    void agents_decideAsExpected() {}

    private static List<String> problems(String name, boolean isDataset, Set<String> allowed, String... failOn)
            throws Exception {
        return new AgentRehearsal()
                .problems(
                        Path.of(WORK, "dataset", name),
                        new HistoryRehearsal.Settings(
                                Path.of(WORK, "agents"), isDataset, List.of(failOn), allowed, BigDecimal.ONE));
    }

    @Test
    void changedDecision_isNamedBesideTheRecordedOne() throws Exception {
        assertThat(problems("parallel-tools.json", false, Set.of("scripted"), "changed"))
                .anyMatch(line -> line.contains("that change: 2"))
                .contains("  with the change: You said: Hello")
                .anyMatch(line -> line.startsWith("  before:          weather "));
        assertThat(problems("parallel-tools.json", false, Set.of("scripted"), "refused"))
                .isEmpty();
        assertThat(problems("parallel-tools.json", true, Set.of("scripted"), "changed"))
                .anyMatch(line -> line.contains("that change: 1"));
    }

    @Test
    void judgedCheck_doesNotPassUnnoticed() throws Exception {
        Path judged = Files.createDirectories(Path.of(WORK, "judged"));
        Files.writeString(judged.resolve("one.json"), Files.readString(HISTORIES.resolve("plain-turn.json")));
        Files.writeString(judged.resolve("one.checks.yaml"), "checks: [{ judged: It is polite }]");

        assertThat(problems("../judged/one.json", true, Set.of("scripted"), "checks"))
                .containsExactly("a check is judged, but tests have no judge: use waymark rehearse --judge");
    }
}
