package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.server.http.HttpSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A question and two approvals are open at once in a published chat in a real browser. In whichever order a person
 * answers them, each call runs as decided.
 */
@Tag("full")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ApprovalOrderCases {
    static final String ANSWER = "Answer Which day?";
    static final String APPROVE = "Approve";
    static final String EDIT = "Approve 4200";
    static final String DENY = "Deny";
    private static final String RAN = "completed {\"cents\":";

    private ChatPage page;
    ConsoleBrowser browser;
    private ServedThreads threads;
    private ApiServer server;
    private int chats;

    abstract ChatPage page() throws Exception;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        page = page();
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("sender.yaml"), """
                model: scripted:sender.script.yaml
                tools:
                  - name: send_letter
                    description: Sends
                    input: { type: object }
                    command: ["sh", "-c", "kill -9 $$"]
                    approval: always
                    on_unknown: ask
                """);
        Files.writeString(agents.resolve("sender.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: send_letter, input: {} }]
                  - text: Sent.
                """);
        threads = ServedThreads.inMemory(directory, Map.of());
        server = threads.serve(HttpSettings.at("127.0.0.1", 0).withCorsOrigins(List.of(page.origin())));
    }

    @AfterAll
    void stop() throws Exception {
        for (AutoCloseable each : new AutoCloseable[] {page, browser, threads}) {
            if (each != null) {
                each.close();
            }
        }
    }

    /** What is pressed, and how the two charges end. */
    static Stream<Arguments> orders() {
        String edited = RAN + "4200}";
        String first = RAN + "9900}";
        String second = RAN + "5100}";
        return Stream.of(
                order(edited, second, press(ANSWER), on("tu_2", EDIT), on("tu_3", APPROVE)),
                order(first, edited, on("tu_3", EDIT), press(ANSWER), on("tu_2", APPROVE)),
                order(edited, edited, on("tu_2", EDIT), on("tu_3", EDIT), press(ANSWER)),
                order("denied {\"cents\":9900}", edited, on("tu_2", DENY), press(ANSWER), on("tu_3", EDIT)));
    }

    static Arguments order(String first, String second, String... presses) {
        return Arguments.of(List.of(presses), first, second);
    }

    static String press(String button) {
        return "await page.getByRole('button', { name: '" + button + "', exact: true }).click();";
    }

    static String on(String call, String button) {
        return "await page.locator('[data-call=" + call + "]').getByRole('button', { name: '" + button
                + "', exact: true }).click();";
    }

    /** Opens a new chat, and waits until this call waits for approval. */
    void open(String agent, String call) throws Exception {
        browser.run("await fresh()");
        browser.run("await page.goto('" + page.address(server.address(), ANN, agent, "chat-" + ++chats) + "');"
                + "await page.getByRole('textbox').fill('Pay'); await page.keyboard.press('Enter');"
                + "await page.locator('[data-call=" + call + "]').waitFor();"
                + "await page.waitForFunction(() => document.title === 'idle')");
    }

    @ParameterizedTest
    @MethodSource("orders")
    void decisions_applyToTheirCalls(List<String> presses, String first, String second) throws Exception {
        open("shopper", "tu_3");

        browser.run(String.join("", presses));

        browser.run("await page.getByText('Paid.', { exact: true }).waitFor()");
        assertThat(charges(thread())).containsExactly(first, second);
        assertThat(browser.run("return problems")).isEmpty();
    }

    HttpCaller ann() {
        return HttpCaller.of(server, ANN);
    }

    /** The id of the thread that the page shows. */
    String thread() throws Exception {
        return browser.text("return page.evaluate(() => document.documentElement.dataset.thread)");
    }

    /** The charges in the order of their ids. */
    private List<String> charges(String thread) throws Exception {
        Map<String, String> charges = new TreeMap<>();
        for (JsonNode call : ann().list(thread, "calls")) {
            if (call.path("tool").asText().equals("charge_card")) {
                charges.put(call.path("callId").asText(), call.path("status").asText() + " " + call.path("args"));
            }
        }
        return List.copyOf(charges.values());
    }
}
