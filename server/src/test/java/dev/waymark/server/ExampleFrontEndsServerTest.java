package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The pages of {@code examples/front-ends}, built by their own scripts, in a real browser and on the real server. */
@Tag("full")
@Tag("packages")
@Tag("server")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExampleFrontEndsServerTest {
    private static final Path EXAMPLES =
            Path.of("..", "examples", "front-ends").toAbsolutePath().normalize();
    private static final Map<String, String> TYPES =
            Map.of("html", "text/html", "js", "text/javascript", "css", "text/css");

    private Path home;
    private HttpServer pages;
    private ServedThreads threads;
    private ConsoleBrowser browser;
    private ApiServer server;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        NodeClients.install();
        // Node finds the packages of the tests in a directory above the copy.
        home = NodeClients.directory("front-ends");
        copy(EXAMPLES, home);
        build("ag-ui");
        build("ai-sdk");
        copy(EXAMPLES.resolve("agents"), directory.resolve("agents"));
        pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        pages.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath().replaceFirst("/$", "/index.html");
            Path file = home.resolve(path.substring(1));
            byte[] content = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
            exchange.getResponseHeaders()
                    .add("Content-Type", TYPES.getOrDefault(path.replaceFirst(".*\\.", ""), "text/plain"));
            exchange.sendResponseHeaders(content.length == 0 ? 404 : 200, content.length == 0 ? -1 : content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
        pages.start();
        threads =
                ServedThreads.on(DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0), directory, Map.of());
        server = threads.serve(
                HttpSettings.at("127.0.0.1", 0).withLimits(1_000, 200, 1_000).withCorsOrigins(List.of(origin())));
        browser = ConsoleBrowser.start(Path.of("target", "front-ends"));
    }

    private String origin() {
        return "http://127.0.0.1:" + pages.getAddress().getPort();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().contains("node_modules"))
                    .toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private void build(String example) throws Exception {
        Path log = home.resolve(example + ".log");
        Process npm = new ProcessBuilder("npm", "run", "build")
                .directory(home.resolve(example).toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(npm.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(npm.exitValue()).as(Files.readString(log)).isZero();
    }

    @AfterAll
    void stop() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (threads != null) {
            threads.close();
        }
        if (pages != null) {
            pages.stop(0);
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

    /** The tests run the examples with their own packages, which have the versions that the examples name. */
    @Test
    void examples_nameTheVersionsThatAreTested() throws Exception {
        JsonNode tested = PayloadJson.MAPPER
                .readTree(
                        Path.of("src", "test", "npm", "clients", "package.json").toFile())
                .path("dependencies");
        for (String example : List.of("ag-ui", "ai-sdk")) {
            JsonNode file = PayloadJson.MAPPER.readTree(
                    EXAMPLES.resolve(example).resolve("package.json").toFile());
            Stream.of("dependencies", "devDependencies")
                    .flatMap(kind -> file.path(kind).properties().stream())
                    .forEach(named ->
                            assertThat(named.getValue()).as(named.getKey()).isEqualTo(tested.get(named.getKey())));
        }
    }

    private void connect(String example) throws Exception {
        browser.run("await page.goto('" + origin() + "/" + example + "/');"
                + "await page.getByLabel('Address').fill('" + server.address() + "');"
                + "await page.getByLabel('Token').fill('" + ANN + "'); await page.keyboard.press('Enter');"
                + "await page.getByLabel('Message').fill('A table for four, please')");
    }

    private void see(String words) throws Exception {
        browser.run("await page.getByText(" + ConsoleCases.quoted(words) + ").first().waitFor()");
    }

    private void press(String button) throws Exception {
        browser.run(
                "await page.getByRole('button', { name: " + ConsoleCases.quoted(button) + ", exact: true }).click()");
    }

    @Test
    void agUi_runsFrontEndToolReloadsAndEditsApproval() throws Exception {
        connect("ag-ui");
        press("Send");
        see("Which table for 4?");
        see("Pick a table: in_progress");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.reload()");
        see("Which table for 4?");
        press("Table 5");
        see("May reserve");
        see("Reserve it: in_progress");
        browser.run("await page.getByLabel('Arguments').fill('{\"name\":\"Ann\",\"hours\":3}')");
        assertThat(browser.run("return axe()")).isEmpty();
        press("Approve");
        see("\"hours\":3");
        assertThat(browser.run("return page.locator('.problem').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"\"]");
    }

    @Test
    void aiSdk_runsFrontEndToolTakesFileReloadsAndRegenerates() throws Exception {
        connect("ai-sdk");
        browser.run("await page.getByLabel('Files').setInputFiles({ name: 'guests.txt', mimeType: 'text/plain',"
                + " buffer: Buffer.from('Ann, Bob, Carol, Dave') })");
        press("Send");
        see("Which table for 4?");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.reload()");
        see("Which table for 4?");
        see("Ann, Bob, Carol, Dave");
        press("Table 5");
        see("May reserve run?");
        browser.run("await page.getByLabel('Arguments').fill('{\"name\":\"Ann\",\"hours\":3}')");
        press("Approve");
        see("\"hours\":3");
        // Regenerates the reply in a fork, where the page is asked again.
        press("Answer again");
        see("Which table for 4?");
        press("None");
        see("May reserve run?");
        press("Deny");
        see("Reserved:");
    }
}
