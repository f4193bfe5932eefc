package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpSettings;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser, with a real worker behind the API, on the in-memory server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleCases {
    /** HTML, Markdown, terminal escapes and invisible characters, which must be shown as text. */
    static final String HOSTILE = "<img src=x onerror=\"document.title=1\"><script>document.title=1"
            + "</script> **bold** [link](javascript:alert(1)) \u001b[2J\u001b[31mred \u202eevil\u202c a\u200bb";

    /** How {@link #HOSTILE} is shown. */
    static final String SHOWN = HOSTILE.replace("\u001b", "\\u001b")
            .replace("\u202e", "\\u202e")
            .replace("\u202c", "\\u202c")
            .replace("\u200b", "\\u200b");

    final PromptedModel model = new PromptedModel();
    final AtomicInteger requests = new AtomicInteger();
    HttpServer unanswering;
    ServedThreads threads;
    ConsoleBrowser browser;
    ApiServer server;
    HttpCaller ann;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        unanswering = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        unanswering.createContext("/", exchange -> {
            requests.incrementAndGet();
            exchange.sendResponseHeaders(504, -1);
            exchange.close();
        });
        unanswering.createContext("/page", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        unanswering.start();
        writeAgents(Files.createDirectories(directory.resolve("agents")));
        threads = ServedThreads.inMemory(directory, Map.of("prompted", model));
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        server = threads.serve(HttpSettings.at("127.0.0.1", 0).withLimits(1_000, 200, 1_000));
        ann = HttpCaller.of(server, ANN);
    }

    private void writeAgents(Path agents) throws Exception {
        Files.writeString(agents.resolve("payer.yaml"), """
                model: scripted:payer.script.yaml
                tools:
                  - name: pay
                    input: { type: object, properties: { cents: { type: integer } } }
                    http: { method: POST, url: "http://127.0.0.1:%d/pay", allow_private: true }
                    on_unknown: ask
                  - { name: look, description: Looks, input: { type: object }, command: ["cat"], safe_to_retry: true }
                """.formatted(
                        unanswering.getAddress().getPort()));
        Files.writeString(agents.resolve("payer.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: pay, input: { cents: 500 } }]
                  - text: "So it is: {{tu_1}}"
                """);
        Files.writeString(
                agents.resolve("served.yaml"),
                "model: scripted:served.script.yaml\nfallback: [scripted:spare.script.yaml]\n");
        Files.writeString(
                agents.resolve("served.script.yaml"),
                "replies:\n  - error: { type: Overloaded, message: Busy., retryable: true }\n");
        Files.writeString(agents.resolve("spare.script.yaml"), "replies:\n  - text: From the spare model.\n");
        Files.writeString(agents.resolve("boss.yaml"), """
                model: scripted:boss.script.yaml
                subagents: [billing]
                budget: { usd: 1.5, tokens: 100000 }
                pricing: { input: 3.0, output: 15.0 }
                """);
        Files.writeString(agents.resolve("boss.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_7, name: billing, input: { task: "Charge the card" } }]
                    usage: { input_tokens: 1000, output_tokens: 100 }
                  - text: "The clerk says: {{tu_7}}"
                """);
        Files.writeString(agents.resolve("chief.yaml"), """
                model: scripted:chief.script.yaml
                subagents: [billing, boss]
                approvals: { by: human, timeout: 24h }
                tools:
                  - name: send_mail
                    description: Sends a mail
                    input:
                      type: object
                      required: [to]
                      properties:
                        to: { type: string, description: "The address" }
                        priority: { enum: [low, high] }
                        copies: { type: integer }
                        draft: { type: boolean }
                        lines: { type: array }
                    command: [cat]
                    approval: always
                """);
        Files.writeString(agents.resolve("chief.script.yaml"), """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: billing, input: { task: "Charge table nine" } }
                      - { id: tu_2, name: billing, input: { task: "Charge table four" } }
                      - { id: tu_3, name: boss, input: { task: "Settle the rest" } }
                      - { id: tu_4, name: send_mail, input: { to: ann, copies: 12345678901234567890, lines: [one] } }
                  - text: All paid.
                """);
        Files.writeString(agents.resolve("teller.yaml"), """
                model: scripted:teller.script.yaml
                tools:
                  - name: where
                    description: Says where it runs
                    input: { type: object }
                    command: [sh, -c, 'echo "$WAYMARK_CONTEXT"']
                    safe_to_retry: true
                """);
        Files.writeString(agents.resolve("teller.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: where, input: {} }]
                  - text: "It ran with {{tu_1}}"
                """);
        Files.writeString(agents.resolve("cashier.yaml"), """
                model: scripted:cashier.script.yaml
                tools:
                  - name: refund
                    description: Refunds
                    input: { type: object, required: [usd], properties: { usd: { type: integer } } }
                    command: [cat]
                    approval:
                      - { when: { properties: { usd: { minimum: 50 } } }, then: ask, reason: fifty or more }
                      - { then: allow }
                """);
        Files.writeString(agents.resolve("cashier.script.yaml"), """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: refund, input: { usd: 80 } }
                      - { id: tu_2, name: refund, input: { usd: 7 } }
                  - text: Refunded.
                """);
        Files.writeString(agents.resolve("pricer.yaml"), """
                model: scripted:pricer.script.yaml
                tools:
                  - name: set_price
                    description: Sets a price
                    input: { type: object, properties: { item: { type: string }, usd: { type: number } } }
                    command: [cat]
                    approval: always
                """);
        Files.writeString(agents.resolve("pricer.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: set_price, input: { item: chair, usd: 1250 } }]
                  - text: Priced.
                """);
        Files.writeString(agents.resolve("booker.yaml"), """
                model: scripted:booker.script.yaml
                tools:
                  - name: book
                    description: Books seats
                    input: { type: object, required: [seats], properties: { seats: { type: integer } } }
                    command: [cat]
                    approval: always
                """);
        Files.writeString(agents.resolve("booker.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: book, input: { seats: 2 } }]
                  - tool_calls: [{ id: tu_2, name: book, input: { seats: 3 } }]
                  - tool_calls: [{ id: tu_3, name: book, input: { seats: 9 } }]
                  - text: Booked.
                  - tool_calls: [{ id: tu_4, name: book, input: { seats: 1 } }]
                  - tool_calls: [{ id: tu_5, name: book, input: { seats: 70 } }]
                  - text: Booked again.
                """);
        Files.writeString(agents.resolve("keeper.yaml"), """
                model: scripted:keeper.script.yaml
                tools: [{ use: todos }, { use: plan }, { use: files }, { use: ask_user }]
                """);
        Files.writeString(agents.resolve("keeper.script.yaml"), """
                replies:
                  - tool_calls:
                      - id: tu_1
                        name: write_todos
                        input: { todos: [{ id: "1", content: Look around, status: completed }] }
                      - { id: tu_2, name: write_file, input: { path: docs/NOTES.md, content: "# Notes\\n\\nold line\\n" } }
                  - tool_calls:
                      - { id: tu_3, name: write_file, input: { path: docs/NOTES.md, content: "# Notes\\n\\nnew line\\n" } }
                      - { id: tu_4, name: write_file, input: { path: data.csv, content: "a,b\\n1,2\\n" } }
                      - { id: tu_5, name: ask_user, input: { question: "Is that all?" } }
                  - text: Done.
                """);
        String call = PayloadJson.MAPPER.writeValueAsString(Map.of(
                "to", HOSTILE + " \u05d0\u05d1 1,000", "id", new BigInteger("12345678901234567890"), "rate", 1.0));
        Files.writeString(agents.resolve("sender.yaml"), """
                model: scripted:sender.script.yaml
                tools:
                  - { use: ask_user }
                  - name: send
                    description: Sends
                    input: { type: object }
                    command: ["cat"]
                    approval: always
                """);
        Files.writeString(
                agents.resolve("sender.script.yaml"),
                "replies:\n  - tool_calls:\n      - { id: tu_1, name: send, input: " + call + " }\n"
                        + "      - { id: tu_2, name: ask_user, input: { question: " + quoted(HOSTILE) + " } }\n"
                        + "  - text: \"{{tu_1}}\"\n");
    }

    @AfterAll
    void stop() throws Exception {
        if (unanswering != null) {
            unanswering.stop(0);
        }
        if (browser != null) {
            browser.close();
        }
        if (threads != null) {
            threads.close();
        }
    }

    @BeforeEach
    void newUser() throws Exception {
        browser.run("await fresh()");
    }

    @AfterEach
    void nothingFailedInThePage() throws Exception {
        assertThat(browser.run("return problems")).isEmpty();
    }

    void open(String path, String token) throws Exception {
        browser.run("await open('" + server.address() + path + "', '" + token + "')");
    }

    void openThread(String thread) throws Exception {
        open("/#/thread/" + thread, ANN);
    }

    /** Shows another thread to the user who has signed in. */
    void show(String thread) throws Exception {
        browser.run("await page.evaluate((thread) => { location.hash = `#/thread/${thread}`; }, '" + thread + "');"
                + "await page.locator('.thread[data-thread=\"" + thread + "\"] .who').waitFor()");
    }

    /** The id of the thread that is shown. */
    String shown() throws Exception {
        return browser.text("return page.url().split('/').at(-1).split('?')[0]");
    }

    void say(String message) throws Exception {
        browser.run("await page.getByLabel('Message', { exact: true }).fill(" + quoted(message) + ");"
                + "await page.keyboard.press('Enter')");
    }

    /** Waits until so many messages or replies have this button. */
    void awaitAgain(String button, int count) throws Exception {
        browser.run("await page.waitForFunction(([name, count]) => [...document.querySelectorAll('.tools button')]"
                + ".filter((button) => button.textContent === name).length === count, ['" + button
                + " in a new thread', " + count + "])");
    }

    /** Not while threads are dimmed because the list is read anew. */
    void assertAccessible() throws Exception {
        browser.run("await page.waitForFunction(() => !document.querySelector('.threads[aria-busy=true] > *'))");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    boolean isTrue(String expression) throws Exception {
        return browser.run("return " + expression).booleanValue();
    }

    int count(String selector) throws Exception {
        return browser.run("return page.locator(" + quoted(selector) + ").count()")
                .intValue();
    }

    List<String> texts(String selector) throws Exception {
        List<String> texts = new ArrayList<>();
        browser.run("return page.locator(" + quoted(selector) + ").allInnerTexts()")
                .forEach(text -> texts.add(text.asText()));
        return texts;
    }

    void see(String words) throws Exception {
        browser.run("await page.getByText(" + quoted(words) + ").first().waitFor()");
    }

    void click(String button) throws Exception {
        browser.run("await page.getByRole('button', { name: " + quoted(button) + ", exact: true }).click()");
    }

    void awaitChip(String status) throws Exception {
        browser.run("await page.locator('.thread-header .chip', { hasText: " + quoted(status) + " }).waitFor()");
    }

    JsonNode call(String thread, String callId) throws Exception {
        for (JsonNode call : ann.list(thread, "calls")) {
            if (call.path("callId").asText().equals(callId)) {
                return call;
            }
        }
        throw new AssertionError("no call " + callId);
    }

    static String quoted(String text) throws Exception {
        return PayloadJson.MAPPER.writeValueAsString(text);
    }
}
