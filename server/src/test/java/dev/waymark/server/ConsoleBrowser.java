package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A real Chromium, controlled by Playwright in a Node program. A test sends bodies of JavaScript functions, which can
 * use {@code page}. Tests are skipped if the browser is not available.
 */
final class ConsoleBrowser implements AutoCloseable {
    private final Process node;
    private final Writer in;
    private final BufferedReader out;
    private final Path errors;

    private ConsoleBrowser(Process node, Path errors) {
        this.node = node;
        this.errors = errors;
        this.in = new OutputStreamWriter(node.getOutputStream(), StandardCharsets.UTF_8);
        this.out = new BufferedReader(new InputStreamReader(node.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts the browser. If a command fails, a screenshot is saved in this directory. */
    static ConsoleBrowser start(Path pictures) throws Exception {
        String chromium = System.getenv().getOrDefault("CHROMIUM", "/usr/bin/chromium");
        assumeTrue(Files.isExecutable(Path.of(chromium)), "no browser at " + chromium);
        NodeClients.install();
        Files.createDirectories(pictures);
        Path errors = Files.createTempFile(NodeClients.HOME, "browser", ".log");
        Process node = NodeClients.program(
                        "browser.mjs", pictures.toAbsolutePath().toString())
                .redirectError(errors.toFile())
                .start();
        ConsoleBrowser browser = new ConsoleBrowser(node, errors);
        browser.answer("the start");
        return browser;
    }

    /** Runs the body of an async function, and returns its result. */
    JsonNode run(String body) throws IOException {
        in.write(PayloadJson.MAPPER.writeValueAsString(body));
        in.write('\n');
        in.flush();
        return answer(body);
    }

    /** Runs the body of an async function that returns text. */
    String text(String body) throws IOException {
        return run(body).asText();
    }

    private JsonNode answer(String body) throws IOException {
        String line = out.readLine();
        if (line == null) {
            throw new AssertionError("the browser ended during " + body + "\n" + Files.readString(errors));
        }
        JsonNode answer = PayloadJson.MAPPER.readTree(line);
        if (answer.has("error")) {
            throw new AssertionError(body + "\n" + answer.path("error").asText() + "\n" + answer.path("problems"));
        }
        return answer.path("result");
    }

    @Override
    public void close() throws IOException, InterruptedException {
        in.close();
        if (!node.waitFor(20, TimeUnit.SECONDS)) {
            node.descendants().forEach(ProcessHandle::destroyForcibly);
            node.destroyForcibly();
        }
        Files.deleteIfExists(errors);
    }
}
