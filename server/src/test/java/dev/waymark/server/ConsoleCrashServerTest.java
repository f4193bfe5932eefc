package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the console while the worker is killed during a charge, and another worker replaces it. */
@Tag("full")
@Tag("server")
class ConsoleCrashServerTest {
    @TempDir
    private Path directory;

    /** A separate Temporal server for these cases. */
    DevServer temporal() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        return DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0);
    }

    private Path writeAgents(Path ledger) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("shop.yaml"), """
                model: scripted:shop.script.yaml
                tools:
                  - name: charge_card
                    description: Charges the card
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["sh", "-c", "echo $WAYMARK_IDEMPOTENCY_KEY >> %1$s; sleep 60; echo Charged by the tool."]
                    verify: ["sh", "-c", "if grep -q $WAYMARK_IDEMPOTENCY_KEY %1$s; then echo '{\\"landed\\":true,\\"result\\":\\"Charged, says the ledger.\\"}'; else echo '{\\"landed\\":false}'; fi"]
                    approval: always
                    timeout: 20s
                """.formatted(ledger));
        Files.writeString(agents.resolve("shop.script.yaml"), """
                replies:
                  - text: Charging now.
                    tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                  - text: "Done: {{tu_1}}"
                """);
        return agents;
    }

    @Test
    void killedWorker_chargesOnceAndShowsNothingTwice() throws Exception {
        Path ledger = directory.resolve("ledger");
        Path agents = writeAgents(ledger);
        try (ServedThreads threads = ServedThreads.withoutWorker(temporal(), directory);
                ConsoleBrowser browser = ConsoleBrowser.start(Path.of("target", "console"))) {
            ApiServer server = threads.serve();
            String thread = HttpCaller.of(server, ANN).start("shop", "Charge the card");
            try (WorkerProcess killed = ScriptedWorker.start(threads.temporalAddress(), agents)) {
                await().atMost(Duration.ofMinutes(1))
                        .until(() -> HttpCaller.of(server, ANN)
                                .get("/v1/threads/" + thread)
                                .text("status")
                                .equals("interrupted"));
                browser.run("await open('" + server.address() + "/#/thread/" + thread + "', '" + ANN + "');"
                        + "await page.getByRole('button', { name: 'Approve', exact: true }).click()");
                await().atMost(Duration.ofMinutes(1)).until(() -> Files.exists(ledger));
            }
            try (WorkerProcess next = ScriptedWorker.start(threads.temporalAddress(), agents)) {
                browser.run("await page.locator('.message.assistant:not(.live)', { hasText: 'Done: Charged, says the"
                        + " ledger.' }).waitFor({ timeout: 90_000 })");

                assertThat(Files.readAllLines(ledger)).hasSize(1);
                String live = shown(browser);
                assertThat(live)
                        .isEqualTo("[\"Charge the card\",\"Charging now.\",\"Done: Charged, says the ledger.\"]");
                assertThat(calls(browser)).isEqualTo("1");
                browser.run("await page.reload(); await page.locator('.message', { hasText: 'Done' }).waitFor()");
                assertThat(shown(browser)).isEqualTo(live);
                assertThat(calls(browser)).isEqualTo("1");
                assertThat(browser.run("return problems")).isEmpty();
            }
        }
    }

    private static String shown(ConsoleBrowser browser) throws Exception {
        return browser.run("return page.locator('.message').allInnerTexts()").toString();
    }

    private static String calls(ConsoleBrowser browser) throws Exception {
        return browser.text("return String(await page.locator('.messages').getByText('charge_card').count())");
    }
}
