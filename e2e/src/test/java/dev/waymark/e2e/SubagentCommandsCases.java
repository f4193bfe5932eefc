package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs agents with subagents through commands, as a shell does, with workers that are killed. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(400)
abstract class SubagentCommandsCases {
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private Path directory;
    private Dev server;
    private CliWorkerProcess worker;
    private Command waymark;

    abstract Dev serverWithoutWorker(Path folder);

    @BeforeAll
    void start(@TempDir Path folder) {
        directory = new Agents(folder)
                .boss()
                .dawdler("dawdler", ", verify: [./dawdler-check.sh]")
                .above("keeper", "dawdler")
                .assistant()
                .above("planner", "assistant")
                .charger("till", 1, "")
                .above("shop", "till")
                .above("owner", "shop")
                .directory();
        server = serverWithoutWorker(folder);
        waymark = Command.warmAt(server.address());
        worker = newWorker("first.log");
    }

    @AfterAll
    void stop() {
        if (worker != null) {
            worker.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private CliWorkerProcess newWorker(String log) {
        return CliWorkerProcess.start(server.address(), directory, Map.of(), directory.resolve(log));
    }

    private void replaceWorker(String log) {
        worker.kill();
        worker = newWorker(log);
    }

    private JsonNode json(String... command) {
        Done done = waymark.run(command);
        assertThat(done.exitCode()).as(done.err()).isZero();
        return done.json();
    }

    @Test
    void approval_below_isGivenAboveByWhoeverIsThere() throws IOException {
        JsonNode asked = json(
                "run",
                "--agent",
                "boss",
                "--thread",
                "firm",
                "--volatile",
                "--context",
                "{\"tenant\":\"acme\"}",
                "Charge them",
                "--json");
        assertThat(asked.path("status").asText()).isEqualTo("interrupted");
        assertThat(asked.path("question").asText()).isEqualTo("May charge_card {\"cents\": 500} run?");
        JsonNode item = asked.path("pending").path(0);
        assertThat(item.path("callId").asText()).isEqualTo("tu_7/tu_1");
        assertThat(asked.path("costUsd").decimalValue()).isEqualByComparingTo("0.04");
        JsonNode everyones = json("pending", "--json");
        assertThat(everyones)
                .filteredOn(each -> each.path("tool").asText().equals("charge_card"))
                .containsExactly(item);

        replaceWorker("second.log");
        Done stale = waymark.run("approve", "firm", "--digest", "e3b0", "--json");
        assertThat(stale.exitCode()).isEqualTo(2);
        JsonNode done =
                json("approve", "firm", "--digest", item.path("argsDigest").asText(), "--by", "ann", "--json");

        assertThat(done.path("text").asText()).isEqualTo("It is done.");
        assertThat(done.path("costUsd").decimalValue()).isEqualByComparingTo("0.08");
        assertThat(done.path("usage").path("inputTokens").asInt()).isEqualTo(8_000);
        assertThat(json("result", "firm/tu_7", "--json").path("costUsd").decimalValue())
                .isEqualByComparingTo("0.06");
        assertThat(Files.readAllLines(directory.resolve("clerk.ledger")))
                .containsExactly("{\"cents\":500} {\"tenant\": \"acme\"}");
        JsonNode call = json("calls", "firm/tu_7", "--json").path(0);
        assertThat(call.path("approval").path("by").asText()).isEqualTo("ann");
        assertThat(json("calls", "firm", "--json").path(0).path("status").asText())
                .isEqualTo("completed");
        assertThat(waymark.run("verify", "firm").exitCode()).isZero();
        assertThat(waymark.run("verify", "firm/tu_7").exitCode()).isZero();
    }

    @Test
    void approval_twoLevelsBelow_withArgumentsThatDoNotFit_isRefusedAndWaits() throws IOException {
        json("run", "--agent", "owner", "--thread", "own", "--volatile", "Go", "--json");
        JsonNode item = json("pending", "own", "--json").path(0);
        assertThat(item.path("callId").asText()).isEqualTo("tu_7/tu_7/tu_1");

        Done misfit = waymark.run("approve", "own", "--args", "{\"cents\":\"400\"}", "--json");
        assertThat(misfit.exitCode()).isEqualTo(2);
        assertThat(misfit.json().path("error").path("type").asText()).isEqualTo("BadInput");
        assertThat(misfit.err()).contains("charge_card: /cents: string found, integer expected");

        assertThat(json("pending", "own", "--json").path(0)).isEqualTo(item);
        assertThat(waymark.run("approve", "own", "--args", "{\"cents\":400}").out())
                .isEqualTo("It is done.\n");
        assertThat(Files.readAllLines(directory.resolve("till.ledger"))).containsExactly("{\"cents\":400}");
    }

    @Test
    void worker_killedInTheMiddleOfAChargeBelow_itIsChargedOnce() throws IOException {
        assertThat(waymark.run("run", "--agent", "keeper", "--thread", "keep", "--volatile", "--no-wait", "Go")
                        .exitCode())
                .isZero();
        Path ledger = directory.resolve("dawdler.ledger");
        await().atMost(PATIENCE).until(() -> Files.exists(ledger) && Files.size(ledger) > 0);

        replaceWorker("third.log");

        assertThat(waymark.run("result", "keep").out()).isEqualTo("It is done.\n");
        assertThat(Files.readAllLines(ledger)).containsExactly("{\"cents\":500}");
        assertThat(waymark.run("show", "keep").out()).contains("<- So be it.  [tu_7]");
        assertThat(waymark.run("show", "keep/tu_1").exitCode()).isEqualTo(3);
        assertThat(waymark.run("show", "keep/tu_7").out()).contains("<- charged after all  [tu_1]");
    }

    @Test
    void checkpoint_eachHasItsOwn_andAClosedOneIsResumed() {
        json("run", "--agent", "planner", "--thread", "plan", "--volatile", "Go", "--json");
        assertThat(json("checkpoint", "plan").has("pendingToolUseId")).isFalse();
        JsonNode below = json("checkpoint", "plan/tu_7");
        assertThat(below.path("pendingToolUseId").asText()).isEqualTo("tu_7");
        assertThat(below.path("messages").path(0).path("content").asText()).isEqualTo("Go.");

        assertThat(waymark.run("answer", "plan", "Friday").out()).isEqualTo("It is done.\n");

        String target = "file:" + directory.resolve("saved");
        assertThat(waymark.run("save", "plan/tu_7", "--to", target).exitCode()).isZero();
        JsonNode again = json("resume", "plan/tu_7", "--from", target, "--agent", "assistant", "--json");
        assertThat(again.path("text").asText()).isEqualTo("Booked.");
        assertThat(json("sessions", "--json"))
                .extracting(each -> each.path("thread").asText())
                .contains("plan", "plan/tu_7");
    }

    @Test
    void stopAndCancel_goDown() {
        for (String order : new String[] {"stop", "cancel"}) {
            String thread = "to-" + order;
            json("run", "--agent", "planner", "--thread", thread, "--volatile", "Go", "--json");

            waymark.run(order, thread);

            JsonNode below = waymark.run("result", thread + "/tu_7", "--json").json();
            assertThat(below.path("status").asText()).isEqualTo("cancelled");
            assertThat(json("pending", "--json"))
                    .noneMatch(each -> each.path("thread").asText().startsWith(thread));
        }
    }
}
