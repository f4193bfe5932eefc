package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.Main;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rehearsals that are killed at random points. */
@Tag("full")
class RehearseKillTest {
    private static final Path RECORDED = Path.of("../worker/src/test/resources/histories");
    private static final Duration LONG = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @BeforeEach
    void threads() throws IOException {
        Path histories = Files.createDirectory(directory.resolve("histories"));
        try (Stream<Path> files = Files.list(RECORDED)) {
            for (Path file : files.filter(each -> !each.toString().endsWith(".expected.json"))
                    .toList()) {
                Files.copy(file, histories.resolve(file.getFileName()));
            }
        }
        Path agents = Files.createDirectory(directory.resolve("agents"));
        Files.writeString(agents.resolve("a.yaml"), """
                model: scripted:a.script.yaml
                pricing: { input: 3, output: 15 }
                """);
        Files.writeString(agents.resolve("a.script.yaml"), """
                replies:
                  - { text: Something else., delay: 100ms, usage: { input_tokens: 500, output_tokens: 50 } }
                """);
    }

    private ChildProcess.Builder rehearse(String answers, String dollars) {
        return ChildProcess.java(
                        ChildProcess.SHORT_LIVED,
                        Main.class,
                        "rehearse",
                        "--histories",
                        "histories",
                        "--allow-provider",
                        "scripted",
                        "--max-usd",
                        dollars,
                        "--answers",
                        answers,
                        "--parallel",
                        "3",
                        "--json")
                .in(directory);
    }

    private int kept(String answers) throws IOException {
        Path kept = directory.resolve(answers).resolve("answers");
        if (!Files.exists(kept)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(kept)) {
            return (int) files.filter(file -> file.toString().endsWith(".json")).count();
        }
    }

    /** The cost of the kept answers. Each has 500 input tokens and 50 output tokens. */
    private BigDecimal spent(String answers) throws IOException {
        return new BigDecimal("0.00225").multiply(BigDecimal.valueOf(kept(answers)));
    }

    private static JsonNode withoutTimes(String json) throws IOException {
        JsonNode report = PayloadJson.MAPPER.readTree(json);
        report.findParents("millis").forEach(totals -> ((ObjectNode) totals).remove("millis"));
        return report;
    }

    @Test
    void killedRehearsal_continued_reportsLikeAnUninterruptedOne() throws Exception {
        ChildProcess.Ended whole = rehearse("whole", "100").run(LONG);
        assertThat(whole.exitCode()).as(whole.err()).isZero();
        int all = kept("whole");
        assertThat(all).isGreaterThan(15);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int kills = 0;

        for (int target = 1 + random.nextInt(4); target < all; target += all / 4 + random.nextInt(4)) {
            try (ChildProcess process = rehearse("killed", "100").start()) {
                while (process.handle().isAlive() && kept("killed") < target) {
                    Thread.sleep(random.nextInt(30));
                }
                if (process.handle().isAlive()) {
                    process.kill();
                    kills++;
                }
            }
        }
        ChildProcess.Ended last = rehearse("killed", "100").run(LONG);

        assertThat(kills).as("seed " + seed).isPositive();
        assertThat(withoutTimes(last.out())).as("seed " + seed).isEqualTo(withoutTimes(whole.out()));
        assertThat(kept("killed")).isEqualTo(all);
    }

    @Test
    void costLimit_rehearsalKilledRepeatedly_isKept() throws Exception {
        BigDecimal ceiling = new BigDecimal("0.15");
        long seed = System.nanoTime();
        Random random = new Random(seed);
        boolean stopped = false;
        for (int i = 0; i < 30 && !stopped; i++) {
            int before = kept("low");
            try (ChildProcess process = rehearse("low", ceiling.toString()).start()) {
                while (process.handle().isAlive() && kept("low") <= before + random.nextInt(3)) {
                    Thread.sleep(random.nextInt(20));
                }
                Thread.sleep(random.nextInt(100));
                stopped = !process.handle().isAlive();
                process.kill();
            }
            assertThat(spent("low")).as("seed " + seed).isLessThanOrEqualTo(ceiling);
        }
        assertThat(stopped).as("it stops by itself, seed " + seed).isTrue();
        ChildProcess.Ended last = rehearse("low", ceiling.toString()).run(LONG);
        assertThat(last.exitCode()).isEqualTo(1);
        assertThat(last.out()).contains("\"stopped\":\"the next request may cost ");
    }
}
