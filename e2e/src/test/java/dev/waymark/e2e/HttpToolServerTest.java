package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.ChargeProgram;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** HTTP tools that are declared in agent files, with a worker that is killed while it waits for responses. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(400)
@Tag("server")
@Tag("full")
class HttpToolServerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final ChargeProgram till = ChargeProgram.open();
    private Path directory;
    private Dev server;
    private CliWorkerProcess worker;
    private Command waymark;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        directory = folder;
        agent("prompt", "POST", "/charges/{card}", "");
        agent("reporting", "POST", "/held/reporting", "");
        agent("asking", "POST", "/held/asking", "on_unknown: ask");
        agent(
                "verified",
                "POST",
                "/held/verified",
                "verify: [echo, '{\"landed\": true, \"result\": \"charged before\"}']");
        agent("again", "POST", "/held/again", "honours_key: true\n    verify: [echo, '{\"landed\": false}']");
        agent("safe", "GET", "/held/safe", "safe_to_retry: true");
        server = Dev.durableWithoutWorker(folder);
        waymark = Command.warmAt(server.address());
        worker = newWorker("first.log");
    }

    private void agent(String name, String method, String path, String more) throws IOException {
        Files.writeString(directory.resolve(name + ".yaml"), """
                model: scripted:%1$s.script.yaml
                tools:
                  - name: charge
                    input: { type: object, properties: { card: { type: string }, cents: { type: integer } } }
                    http: { method: %2$s, url: "%3$s", headers: { Authorization: "Bearer ${TILL_TOKEN}" } }
                    allow_private: true
                    timeout: 5s
                    %4$s
                """.formatted(name, method, till.address() + path, more));
        Files.writeString(directory.resolve(name + ".script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge, input: { card: "4/2", cents: 500 } }]
                  - text: So be it.
                """);
    }

    private CliWorkerProcess newWorker(String log) {
        return CliWorkerProcess.start(
                server.address(), directory, Map.of("TILL_TOKEN", "till-token-1"), directory.resolve(log));
    }

    @AfterAll
    void stop() {
        if (worker != null) {
            worker.close();
        }
        if (server != null) {
            server.close();
        }
        till.close();
    }

    @Test
    void request_answered_isSentOnceWithItsKey() {
        Command.Done done = waymark.run("run", "--agent", "prompt", "Charge", "--json");

        assertThat(done.json().path("text").asText()).isEqualTo("So be it.");
        assertThat(done.json().path("messages").toString()).contains("charged /charges/4/2");
        List<ChargeProgram.Request> requests = till.requests("/charges/4/2");
        assertThat(requests).hasSize(1);
        assertThat(requests.get(0).body()).isEqualTo("{\"cents\":500}");
        assertThat(requests.get(0).key())
                .hasValueSatisfying(key -> assertThat(key).matches("[0-9a-f]{64}"));
    }

    @Test
    void worker_killedInMidRequest_everyToolTakesEffectOnce() {
        List<String> agents = List.of("reporting", "asking", "verified", "again", "safe");
        for (String agent : agents) {
            waymark.run("run", "--agent", agent, "--thread", agent, "--volatile", "--no-wait", "Charge");
        }
        await().atMost(PATIENCE)
                .until(() -> agents.stream()
                        .allMatch(agent -> till.requests("/held/" + agent).size() == 1));
        worker.kill();
        worker = newWorker("second.log");

        assertThat(result("reporting"))
                .contains("did not complete durably")
                .contains("whether it took effect is not known", "So be it.");
        assertThat(result("verified")).contains("charged before", "So be it.");
        assertThat(result("again")).contains("charged /held/again", "So be it.");
        assertThat(result("safe")).contains("charged /held/safe", "So be it.");
        JsonNode pending = waymark.run("result", "asking", "--json").json();
        assertThat(pending.at("/pending/0/kind").asText()).isEqualTo("unknown");
        assertThat(waymark.run(
                                "settle",
                                "asking",
                                "--call",
                                "tu_1",
                                "--outcome",
                                "done",
                                "--result",
                                "charged, says the bank")
                        .out())
                .isEqualTo("So be it.\n");
        assertThat(result("asking")).contains("charged, says the bank");

        for (String once : List.of("reporting", "asking", "verified")) {
            assertThat(till.requests("/held/" + once)).as(once).hasSize(1);
        }
        List<ChargeProgram.Request> again = till.requests("/held/again");
        assertThat(again).extracting(ChargeProgram.Request::charged).containsExactly(true, false);
        assertThat(again)
                .extracting(ChargeProgram.Request::key)
                .containsOnly(again.get(0).key());
        assertThat(till.requests("/held/safe"))
                .hasSize(2)
                .allMatch(request -> request.key().isEmpty());
        for (String agent : agents) {
            assertThat(waymark.run("verify", agent).exitCode()).as(agent).isZero();
        }
    }

    /** Waits until the turn has ended or waits for a person, and returns the conversation as JSON. */
    private String result(String thread) {
        return waymark.run("result", thread, "--json").json().path("messages").toString();
    }
}
