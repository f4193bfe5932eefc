package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.server.http.HttpSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The published chat of CopilotKit, in a real browser, on the AG-UI endpoint. */
@Tag("full")
class CopilotKitTest {
    @TempDir
    private static Path directory;

    private static final PromptedModel MODEL = new PromptedModel();

    private static ChatPage page;
    private static ConsoleBrowser browser;
    private static ServedThreads threads;
    private static ApiServer server;

    @BeforeAll
    static void start() throws Exception {
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        page = ChatPage.ofCopilotKit();
        threads = ServedThreads.inMemory(directory, Map.of("prompted", MODEL));
        server = threads.serve(HttpSettings.at("127.0.0.1", 0).withCorsOrigins(List.of(page.origin())));
    }

    @AfterAll
    static void stop() throws Exception {
        if (page != null) {
            page.close();
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

    private static String address(String agent, String thread) {
        return page.address(server.address(), ANN, agent, thread);
    }

    private static void open(String address) throws Exception {
        browser.run("await page.goto('" + address + "'); await page.getByRole('textbox').waitFor()");
    }

    private static void say(String text) throws Exception {
        browser.run("await page.getByRole('textbox').fill('" + text + "'); await page.keyboard.press('Enter')");
    }

    private static void see(String text) throws Exception {
        browser.run("await page.getByText('" + text + "', { exact: true }).first().waitFor()");
    }

    private static String times(String text) throws Exception {
        return browser.text("return String(await page.getByText('" + text + "', { exact: true }).count())");
    }

    @Test
    void reply_streamsAndAppearsOnceAfterReload() throws Exception {
        open(address("prompted", "talk"));
        say("Count for me");
        MODEL.says("One, ", "two, ");
        see("One, two,");
        open(address("prompted", "talk") + "&again");
        see("One, two,");
        MODEL.says("three.");
        MODEL.ends();
        see("One, two, three.");

        assertThat(times("Count for me")).isEqualTo("1");
        assertThat(times("One, two, three.")).isEqualTo("1");
    }

    @Test
    void approval_isStillOpenAfterReload_andGivenOnce() throws Exception {
        String chat = address("billing", "pay");
        open(chat);
        say("Pay the invoice");
        see("Charging now.");
        browser.run("await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()");
        open(chat + "&again");
        browser.run("await page.getByRole('button', { name: 'Approve', exact: true }).click()");
        see("Charged.");
        open(chat + "&again");
        see("Charged.");

        for (String text : List.of("Pay the invoice", "Charging now.", "Charged.")) {
            assertThat(times(text)).as(text).isEqualTo("1");
        }
    }
}
