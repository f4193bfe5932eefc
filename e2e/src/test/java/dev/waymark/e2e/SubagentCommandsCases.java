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

    Path directory;
    private Dev server;
    private CliWorkerProcess worker;
    Command waymark;

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

    void replaceWorker(String log) {
        worker.kill();
        worker = newWorker(log);
    }

    JsonNode json(String... command) {
        Done done = waymark.run(command);
        assertThat(done.exitCode()).as(done.err()).isZero();
        return done.json();
    }

    @Test
    void worker_killedDuringASubagentsCharge_chargesOnce() throws IOException {
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
    void stopAndCancel_reachSubagents() {
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
