package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Clients that nobody here wrote, from npm, in programs of Node. Tests with them are skipped where they can't be had. */
final class NodeClients {
    private static final Path HOME = Path.of("target", "npm").toAbsolutePath();
    private static final List<String> PACKAGES = List.of(
            "@ag-ui/client@1.0.0",
            "ai@7.0.173",
            "@ai-sdk/react@4.0.177",
            "react@19.3.1",
            "react-test-renderer@19.3.1",
            "playwright-core@1.64.1",
            "axe-core@4.14.1");

    private NodeClients() {}

    static void install() throws IOException, InterruptedException {
        Files.createDirectories(HOME);
        Path done = HOME.resolve("installed");
        if (!Files.exists(done) || !Files.readAllLines(done).equals(PACKAGES)) {
            List<String> words = new ArrayList<>(List.of(
                    "npm", "install", "--prefix", HOME.toString(), "--no-audit", "--no-fund", "--ignore-scripts"));
            words.addAll(PACKAGES);
            boolean installed = false;
            try {
                Process npm = new ProcessBuilder(words)
                        .redirectErrorStream(true)
                        .redirectOutput(HOME.resolve("install.log").toFile())
                        .start();
                installed = npm.waitFor(5, TimeUnit.MINUTES) && npm.exitValue() == 0;
            } catch (IOException e) {
                // No npm.
            }
            assumeTrue(installed, "npm can't install the clients, see " + HOME.resolve("install.log"));
            Files.write(done, PACKAGES);
        }
    }

    /** A directory next to the programs, for files that they read or import. */
    static Path directory(String name) throws IOException {
        return Files.createDirectories(HOME.resolve(name));
    }

    /** A program, not started yet. */
    static ProcessBuilder program(String script, String... words) throws IOException {
        Path program = HOME.resolve(script);
        try (InputStream source = NodeClients.class.getResourceAsStream(script)) {
            Files.copy(Objects.requireNonNull(source), program, StandardCopyOption.REPLACE_EXISTING);
        }
        List<String> command = new ArrayList<>(List.of("node", program.toString()));
        command.addAll(List.of(words));
        return new ProcessBuilder(command);
    }

    /** What a program prints, as JSON. */
    static JsonNode run(String script, String... words) throws IOException, InterruptedException {
        Path errors = Files.createTempFile(HOME, "node", ".log");
        Process node = program(script, words).redirectError(errors.toFile()).start();
        String out = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!node.waitFor(1, TimeUnit.MINUTES) || node.exitValue() != 0) {
            node.destroyForcibly();
            throw new AssertionError(script + " failed: " + Files.readString(errors) + out);
        }
        Files.delete(errors);
        return PayloadJson.MAPPER.readTree(out);
    }
}
