package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import dev.waymark.worker.server.DevServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser, with a real worker behind the API. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleCases {
    /** Text that tries to be more than text. */
    private static final String HOSTILE = "<img src=x onerror=\"document.title=1\"><script>document.title=1"
            + "</script> **bold** [link](javascript:alert(1)) \u001b[2J\u001b[31mred \u202eevil\u202c a\u200bb";

    /** How {@link #HOSTILE} is shown. */
    private static final String SHOWN = HOSTILE.replace("\u001b", "\\u001b")
            .replace("\u202e", "\\u202e")
            .replace("\u202c", "\\u202c")
            .replace("\u200b", "\\u200b");

    private final PromptedModel model = new PromptedModel();
    private ServedThreads threads;
    private ConsoleBrowser browser;
    private ApiServer server;
    private HttpCaller ann;

    /** A server of these cases' own. */
    abstract DevServer temporal() throws Exception;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        Files.createDirectories(directory.resolve("agents"));
        threads = ServedThreads.on(temporal(), directory, Map.of("prompted", model));
        server = threads.serve();
        ann = HttpCaller.of(server, ANN);
    }

    @AfterAll
    void stop() throws Exception {
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

    private void open(String path, String token) throws Exception {
        browser.run("await open('" + server.address() + path + "', '" + token + "')");
    }

    private void openThread(String thread) throws Exception {
        open("/#/thread/" + thread, ANN);
    }

    private void see(String words) throws Exception {
        browser.run("await page.getByText(" + quoted(words) + ").first().waitFor()");
    }

    private static String quoted(String text) throws Exception {
        return PayloadJson.MAPPER.writeValueAsString(text);
    }

    @Test
    void wrongToken_isRefused_andARightOneIsHeldInThisTabOnly() throws Exception {
        browser.run("await page.goto('" + server.address() + "'); await page.getByLabel('Access token').fill('wrong');"
                + "await page.getByRole('button', { name: 'Sign in' }).click()");
        see("The server does not accept this token.");
        assertThat(browser.run("return axe()")).isEmpty();
        open("/", ANN);

        assertThat(browser.text("return page.url() + JSON.stringify(await context.cookies())"
                        + " + await page.evaluate(() => JSON.stringify(localStorage))"))
                .doesNotContain(ANN)
                .endsWith("[]{}");
        browser.run("await page.reload(); await page.getByRole('navigation', { name: 'Threads' }).waitFor()");
        browser.run("await page.getByRole('button', { name: 'Sign out' }).click();"
                + "await page.getByLabel('Access token').waitFor()");
    }

    @Test
    void reply_appearsWordByWord_alsoAfterAReloadInTheMiddle() throws Exception {
        String thread = ann.start("prompted", "Hello there");
        openThread(thread);
        see("Hello there");
        model.says("One ", "two ");
        see("One two");
        browser.run("await page.reload()");
        see("One two");
        model.says("three.");
        see("One two three.");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"Hello there\",\"One two three.\"]");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void lostAttempt_isTakenBack() throws Exception {
        String thread = ann.start("prompted", "Hi");
        openThread(thread);
        model.says("Wrong words ");
        see("Wrong words");
        model.fails();
        model.says("Right words.");
        see("Right words.");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"Hi\",\"Right words.\"]");
    }

    @Test
    void hostileText_staysText() throws Exception {
        String thread = ann.post(
                        "/v1/threads",
                        PayloadJson.MAPPER.writeValueAsString(Map.of("agent", "prompted", "message", HOSTILE)))
                .text("thread");
        openThread(thread);
        model.says(HOSTILE);
        browser.run("await page.locator('.message.live', { hasText: 'evil' }).waitFor()");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()"))
                .extracting(text -> text.asText())
                .isEqualTo(List.of(SHOWN, SHOWN));
        assertThat(browser.run("return [await page.title(), await page.locator('.messages img, .messages script,"
                                + " .messages a, .threads img').count()]")
                        .toString())
                .endsWith("Waymark\",0]");
    }

    @Test
    void message_isSentWithTheKeyboard_andTheListShowsTheThread() throws Exception {
        String thread = ann.start("assistant", "A first message");
        openThread(thread);
        see("Hello.");
        browser.run("await page.getByLabel('Message', { exact: true }).fill('And a second one');"
                + "await page.keyboard.press('Enter')");
        browser.run("await page.locator('.message', { hasText: 'And a second one' }).waitFor();"
                + "await page.waitForFunction(() => document.querySelectorAll('.message.assistant').length === 2)");

        assertThat(browser.text("return page.locator('.threads a[aria-current]').innerText()"))
                .contains("A first message", "assistant");
        assertThat(browser.run("return axe()")).isEmpty();
    }
}
