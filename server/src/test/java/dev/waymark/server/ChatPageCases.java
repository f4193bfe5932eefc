package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.fixtures.process.FreePort;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A published chat in a real browser, on the real server. All scenes run at the same time: each sends a message, sees
 * the reply appear, and reaches a charge. During the charges, nothing, the worker or the server instance is killed.
 */
@Tag("full")
@Tag("server")
@Tag("chats")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ChatPageCases {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final String SAID = "One moment, please.";
    private static final String PARTIAL_REPLY = "One moment,";
    private static final String DONE = "Done: charged";

    /**
     * JavaScript for browser commands: {@code chats} has the page of each scene, and {@code all} acts on several pages
     * at once.
     */
    private static final String HELPERS = """
            const chats = (globalThis.chats ??= {});
            const all = (names, act) => Promise.all(names.map((name) => act(chats[name], name)));
            const see = (chat, text) => chat.getByText(text, { exact: true }).first().waitFor().catch(async () => {
              throw new Error(`no ${text} at ${chat.url()}: ${await chat.locator('body').innerText()}`);
            });
            const press = (chat, name) => chat.getByRole('button', { name, exact: true }).click();
            """;

    private enum Scene {
        TALK("shop"),
        /** The page is reloaded in the middle of the reply. */
        RELOAD("shop"),
        APPROVE("billing"),
        /** The call is approved with other arguments. */
        EDIT("billing"),
        /** Two questions are open at once. */
        QUESTIONS("booking"),
        /** The turn is stopped during the charge. */
        STOP("shop");

        private final String agent;

        Scene(String agent) {
            this.agent = agent;
        }

        static String names(Scene... scenes) {
            return Arrays.stream(scenes).map(scene -> "'" + scene + "'").collect(Collectors.joining(",", "[", "]"));
        }
    }

    private enum Kill {
        NOTHING,
        THE_WORKER,
        THE_INSTANCE
    }

    @TempDir
    private Path directory;

    private ChatPage page;
    private ConsoleBrowser browser;
    private ServedThreads threads;
    private HttpCaller ann;
    private Path agents;
    private Path place;
    private WorkerProcess worker;
    private WorkerProcess instance;
    private int port;

    abstract ChatPage page() throws Exception;

    /** The browser command that stops the turn in {@code chat}. */
    String stop() {
        return "await press(chat, 'Stop')";
    }

    @BeforeAll
    void open() throws Exception {
        assumeTrue(TemporalBinary.find().isPresent(), "no temporal command");
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        page = page();
    }

    @AfterAll
    void close() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (page != null) {
            page.close();
        }
    }

    @BeforeEach
    void start() throws Exception {
        place = Files.createTempDirectory(directory, "place");
        agents = Files.createDirectories(place.resolve("agents"));
        writeAgents();
        DevServer temporal = DevServer.temporal(TemporalBinary.find().orElseThrow(), Optional.empty(), 0, 0);
        threads = ServedThreads.withoutWorker(temporal, place);
        port = FreePort.next();
        startWorker();
        startInstance();
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    private void startWorker() throws Exception {
        worker = ScriptedWorker.start(threads.temporalAddress(), agents);
    }

    private void startInstance() throws Exception {
        instance = ServerInstance.start(threads.temporalAddress(), agents, threads.tokens(), port, page.origin());
    }

    @AfterEach
    void stopAll() throws Exception {
        endCharges();
        for (AutoCloseable each : new AutoCloseable[] {instance, worker, threads}) {
            if (each != null) {
                each.close();
            }
        }
    }

    private List<String> ledgerLines() throws IOException {
        Path ledger = place.resolve("ledger");
        return Files.exists(ledger) ? Files.readAllLines(ledger) : List.of();
    }

    /**
     * Writes the agents. A charge writes its key and its arguments to the ledger, and ends once the file {@code go}
     * exists.
     */
    private void writeAgents() throws IOException {
        String charge = """
                  - name: charge_card
                    description: Charges the card
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["sh", "-c", "echo $WAYMARK_IDEMPOTENCY_KEY $(cat) >> %1$s/ledger; i=0; while [ ! -e %1$s/go ] && [ $i -lt 3000 ]; do sleep 0.2; i=$((i+1)); done; echo charged"]
                    verify: ["sh", "-c", "if grep -q $WAYMARK_IDEMPOTENCY_KEY %1$s/ledger; then echo '{\\"landed\\":true,\\"result\\":\\"charged\\"}'; else echo '{\\"landed\\":false}'; fi"]
                    timeout: 90s
                """.formatted(place);
        String charging = "tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]";
        String done = "  - text: \"Done: {{tu_1}}\"\n";
        writeAgent("shop", charge, "replies:\n  - text: \"" + SAID + "\"\n    " + charging + "\n" + done);
        writeAgent(
                "billing",
                charge + "    approval: always\n",
                "replies:\n  - text: \"" + SAID + "\"\n    " + charging + "\n" + done);
        writeAgent("booking", "  - use: ask_user\n" + charge, """
                replies:
                  - text: "%s"
                    tool_calls:
                      - { id: tu_2, name: ask_user, input: { question: "Which day?" } }
                      - { id: tu_3, name: ask_user, input: { question: "Which seat?" } }
                  - %s
                """.formatted(SAID, charging) + done);
    }

    private void writeAgent(String name, String tools, String script) throws IOException {
        Files.writeString(agents.resolve(name + ".yaml"), "model: paused:" + name + ".script.yaml\ntools:\n" + tools);
        Files.writeString(agents.resolve(name + ".script.yaml"), script);
    }

    private void endCharges() throws IOException {
        if (place != null && !Files.exists(place.resolve("go"))) {
            Files.createFile(place.resolve("go"));
        }
    }

    private JsonNode run(String body) throws IOException {
        return browser.run(HELPERS + body);
    }

    private String address(Scene scene) {
        return page.address("http://127.0.0.1:" + port, ANN, scene.agent, scene.name());
    }

    private void open(Scene scene, String more) throws IOException {
        run("await chats." + scene + ".goto('" + address(scene) + more + "');" + "await chats." + scene
                + ".getByRole('textbox').waitFor()");
    }

    @ParameterizedTest
    @EnumSource(Kill.class)
    void chats_chargeOnce_andShowNothingTwice(Kill kill) throws Exception {
        browser.run("await fresh()");
        for (Scene scene : Scene.values()) {
            // Each scene needs its own context: a browser opens at most six connections to a server for all pages of a
            // context.
            run("await chats." + scene + "?.context().close(); const own = await context.browser().newContext();"
                    + "own.setDefaultTimeout(180_000); chats." + scene + " = await own.newPage()");
            open(scene, "");
        }
        String everyone = Scene.names(Scene.values());
        run("await all(" + everyone + ", async (chat, name) => {"
                + "await chat.getByRole('textbox').fill('Please ' + name); await chat.keyboard.press('Enter') })");
        run("await all(" + everyone + ", (chat) => see(chat, '" + PARTIAL_REPLY + "'))");
        open(Scene.RELOAD, "&again");
        run("await see(chats.RELOAD, '" + PARTIAL_REPLY + "')");
        ScriptedWorker.endPause(agents);
        run(
                "await all(" + everyone + ", (chat) => see(chat, '" + SAID + "'));"
                        + "await Promise.all([press(chats.APPROVE, 'Approve'), press(chats.EDIT, 'Approve 4200'),"
                        + "press(chats.QUESTIONS, 'Answer Which day?').then(() => press(chats.QUESTIONS, 'Answer Which seat?'))])");
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ledgerLines()).hasSize(Scene.values().length));

        kill(kill);
        run("const chat = chats.STOP;" + stop()
                + "; await chat.locator('html[data-stop=accepted]').waitFor({ state: 'attached' })");
        if (kill != Kill.THE_WORKER) {
            // After the worker was killed, the charges do not end, so that only their check of the ledger can complete
            // them.
            endCharges();
        }
        String going = Scene.names(Scene.TALK, Scene.RELOAD, Scene.APPROVE, Scene.EDIT, Scene.QUESTIONS);
        run("await all(" + going + ", (chat) => see(chat, '" + DONE + "'));"
                + "await all(" + everyone
                + ", (chat) => chat.waitForFunction(() => document.title === 'idle'))");

        assertThat(statuses()).containsOnlyOnce("stopped");
        assertThat(ledgerArguments())
                .containsExactlyInAnyOrder(
                        "{\"cents\":8400}",
                        "{\"cents\":8400}",
                        "{\"cents\":8400}",
                        "{\"cents\":4200}",
                        "{\"cents\":8400}",
                        "{\"cents\":8400}");
        assertShownOnce();
        for (Scene scene : Scene.values()) {
            open(scene, "&again");
        }
        run("await all(" + going + ", (chat) => see(chat, '" + DONE + "')); await see(chats.STOP, '" + SAID + "')");
        assertShownOnce();
        assertThat(ledgerLines()).hasSize(Scene.values().length);
        for (String thread : threadIds()) {
            assertThat(ann.get("/v1/threads/" + thread + "/messages").body().toString())
                    .as(thread)
                    .containsOnlyOnce("Please ");
        }
    }

    private void kill(Kill kill) throws Exception {
        switch (kill) {
            case NOTHING -> {}
            case THE_WORKER -> {
                worker.close();
                startWorker();
            }
            case THE_INSTANCE -> {
                instance.close();
                startInstance();
            }
        }
    }

    private List<String> ledgerArguments() throws IOException {
        return ledgerLines().stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
    }

    private void assertShownOnce() throws IOException {
        for (Scene scene : Scene.values()) {
            int done = scene == Scene.STOP ? 0 : 1;
            List<Integer> counts = new ArrayList<>();
            run("const chat = chats." + scene + ";"
                            + "const count = (text, exact) => chat.getByText(text, { exact }).count();"
                            + "return [await count('Please " + scene + "', true), await count('" + SAID
                            + "', true), await count('" + PARTIAL_REPLY + "', false), await count('Done:', false)]")
                    .forEach(count -> counts.add(count.asInt()));
            assertThat(counts).as("%s: said, heard, heard in part, done", scene).containsExactly(1, 1, 1, done);
        }
    }

    private JsonNode list() throws Exception {
        return ann.get("/v1/threads").body().path("threads");
    }

    private List<String> threadIds() throws Exception {
        List<String> ids = list().findValuesAsText("thread");
        assertThat(ids).hasSize(Scene.values().length);
        return ids;
    }

    private List<String> statuses() throws Exception {
        return list().findValuesAsText("status");
    }
}
