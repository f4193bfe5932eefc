package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import dev.waymark.server.http.HttpSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The published chat of CopilotKit, in a real browser, on the AG-UI door. */
@Tag("full")
class CopilotKitTest {
    private static final Path HOME = Path.of("target", "copilotkit").toAbsolutePath();
    private static final int BUNDLE_MINUTES = 5;

    @TempDir
    private static Path directory;

    private static final PromptedModel MODEL = new PromptedModel();

    private static HttpServer page;
    private static ConsoleBrowser browser;
    private static ServedThreads threads;
    private static ApiServer server;

    @BeforeAll
    static void start() throws Exception {
        browser = ConsoleBrowser.start(Path.of("target", "console"));
        NodeClients.install("copilotkit", HOME);
        bundle();
        page = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        serve("/page.html", "text/html", """
                <!doctype html><meta charset="utf-8"><title>Chat</title><link rel="stylesheet" href="chat.css">
                <div id="root" style="height: 90vh"></div><script type="module" src="chat.js"></script>
                """.getBytes(StandardCharsets.UTF_8));
        serve("/chat.js", "text/javascript", Files.readAllBytes(HOME.resolve("out/chat.js")));
        serve("/chat.css", "text/css", Files.readAllBytes(HOME.resolve("out/chat.css")));
        page.start();
        threads = ServedThreads.inMemory(directory, Map.of("prompted", MODEL));
        server = threads.serve(HttpSettings.at("127.0.0.1", 0).withCorsOrigins(List.of(origin())));
    }

    private static void bundle() throws Exception {
        Path script = HOME.resolve("chat.mjs");
        Files.copy(
                Path.of("src", "test", "npm", "copilotkit", "chat.mjs"), script, StandardCopyOption.REPLACE_EXISTING);
        Process esbuild;
        try {
            esbuild = new ProcessBuilder(
                            "node_modules/.bin/esbuild",
                            "chat.mjs",
                            "--bundle",
                            "--format=esm",
                            "--outdir=out",
                            "--loader:.woff2=dataurl",
                            "--loader:.woff=dataurl",
                            "--loader:.ttf=dataurl",
                            "--define:process.env.NODE_ENV=\"production\"")
                    .directory(HOME.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(HOME.resolve("bundle.log").toFile())
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "no esbuild for this machine: " + e.getMessage());
            return;
        }
        assertThat(esbuild.waitFor(BUNDLE_MINUTES, TimeUnit.MINUTES)).isTrue();
        assertThat(esbuild.exitValue())
                .as(Files.readString(HOME.resolve("bundle.log")))
                .isZero();
    }

    private static void serve(String path, String type, byte[] content) {
        page.createContext(path, exchange -> {
            exchange.getResponseHeaders().add("Content-Type", type);
            exchange.sendResponseHeaders(200, content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
    }

    private static String origin() {
        return "http://127.0.0.1:" + page.getAddress().getPort();
    }

    @AfterAll
    static void stop() throws Exception {
        if (page != null) {
            page.stop(0);
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
        return origin() + "/page.html?url=" + URLEncoder.encode(server.address(), StandardCharsets.UTF_8) + "&token="
                + ANN + "&agent=" + agent + "&thread=" + thread;
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
    void reply_appearsWhileItIsSpoken_andOnceAfterAReloadInTheMiddle() throws Exception {
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
    void approval_isGivenInTheChat_andTheConversationIsThereAfterAReload() throws Exception {
        open(address("billing", "pay"));
        say("Pay the invoice");
        see("Charging now.");
        browser.run("await page.getByRole('button', { name: 'Approve' }).click()");
        see("Charged.");
        open(address("billing", "pay") + "&again");
        see("Charged.");

        assertThat(times("Pay the invoice")).isEqualTo("1");
        assertThat(times("Charging now.")).isEqualTo("1");
        assertThat(times("Charged.")).isEqualTo("1");
    }

    @Test
    void openApproval_isStillAskedAfterAReload() throws Exception {
        open(address("billing", "later"));
        say("Pay the invoice");
        see("Charging now.");
        browser.run("await page.getByRole('button', { name: 'Approve' }).waitFor()");
        open(address("billing", "later") + "&again");
        browser.run("await page.getByRole('button', { name: 'Deny' }).click()");
        see("Charged.");

        assertThat(times("Charging now.")).isEqualTo("1");
    }
}
