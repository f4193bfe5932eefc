package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** While no worker runs, all views of a thread agree, and none claims something that turns out to be wrong. */
@Tag("full")
@Tag("server")
class LostWorkerServerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    private Path directory;

    private Path writeAgents() throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("shop.yaml"), """
                model: scripted:shop.script.yaml
                tools:
                  - name: charge_card
                    description: Charges the card
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["sh", "-c", "touch %s; sleep 60"]
                    on_unknown: ask
                """.formatted(directory.resolve("began")));
        Files.writeString(agents.resolve("shop.script.yaml"), """
                replies:
                  - text: Charging now.
                    tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                  - text: Done.
                """);
        return agents;
    }

    @Test
    void lostWorker_allViewsAgreeAndWithdrawTheWarning() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        Path agents = writeAgents();
        try (ServedThreads threads = ServedThreads.withoutWorker(
                        DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0), directory);
                ConsoleBrowser browser = ConsoleBrowser.start(Path.of("target", "console"))) {
            ApiServer server = threads.serve();
            HttpCaller ann = HttpCaller.of(server, ANN);
            String thread = ann.start("shop", "Charge the card");
            EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty());
            try (WorkerProcess killed = ScriptedWorker.start(threads.temporalAddress(), agents)) {
                await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve("began")));
                browser.run("await open('" + server.address() + "/#/thread/" + thread + "', '" + ANN + "')");
                browser.run("await page.locator('.thread-header .chip', { hasText: 'running' }).waitFor()");
            }

            List<EventStreamReader.Event> seen = events.until(
                    all -> all.stream().anyMatch(event -> event.name().equals("status")));
            JsonNode status = seen.get(seen.size() - 1).data();

            assertThat(status.toString())
                    .isEqualTo("{\"type\":\"status\",\"status\":\"interrupted\",\"phase\":\"waiting\","
                            + "\"waiting\":[{\"callId\":\"tu_1\",\"kind\":\"unknown\",\"tool\":\"charge_card\"}]}");
            assertThat(seen).extracting(EventStreamReader.Event::name).doesNotContain("tool-lost");
            assertThat(statuses(ann, thread)).containsOnly("interrupted");
            browser.run(
                    "await page.locator('.decisions').getByText('charge_card').first().waitFor({ timeout: 5_000 })");
            try (EventStreamReader later = EventStreamReader.open(
                    ann, thread, seen.get(seen.size() - 2).id())) {
                assertThat(later.until(all -> !all.isEmpty()).get(0).data()).isEqualTo(status);
            }

            browser.run("await page.getByRole('textbox', { name: 'Message' }).fill('Are you there?');"
                    + "await page.keyboard.press('Enter');"
                    // For half a minute, the server still counts the tasks of the lost worker.
                    + "await page.locator('.composer .problem', { hasText: 'worker' }).waitFor({ timeout: 60_000 })");
            try (WorkerProcess next = ScriptedWorker.start(threads.temporalAddress(), agents)) {
                browser.run("await page.locator('.message.user', { hasText: 'Are you there?' }).waitFor()");
                browser.run("await page.waitForFunction(() => document.querySelector('.composer textarea').value === ''"
                        + " && document.querySelector('.composer .problem').textContent === '')");
                List<EventStreamReader.Event> rest = events.until(
                        all -> all.stream().anyMatch(event -> event.name().equals("user-spoke")));
                assertThat(rest).extracting(EventStreamReader.Event::name).contains("tool-lost");
                assertThat(statuses(ann, thread)).containsOnly("interrupted");
                assertThat(browser.run("return problems")).isEmpty();
            }
            events.close();
        }
    }

    /** The status according to each operation that shows one. */
    private static List<String> statuses(HttpCaller ann, String thread) throws Exception {
        String path = "/v1/threads/" + thread;
        JsonNode listed = ann.get("/v1/threads").body().at("/threads/0");
        JsonNode conversation = ann.get(path + "/conversation").body();
        assertThat(listed.at("/waiting/0/kind").asText()).isEqualTo("unknown");
        assertThat(conversation.at("/pending/0/kind").asText()).isEqualTo("unknown");
        assertThat(ann.list(thread, "pending").findValuesAsText("kind")).containsExactly("unknown");
        return List.of(
                listed.path("status").asText(),
                conversation.path("status").asText(),
                ann.get(path).text("status"),
                ann.get("/v1/threads?status=interrupted")
                        .body()
                        .at("/threads/0/status")
                        .asText());
    }
}
