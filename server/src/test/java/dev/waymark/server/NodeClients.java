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
    private static final Path SOURCES = Path.of("src", "test", "npm").toAbsolutePath();
    static final Path HOME = Path.of("target", "npm").toAbsolutePath();
    private static final List<String> FILES = List.of("package.json", "package-lock.json");
    private static final int PATIENCE_MINUTES = 10;

    private NodeClients() {}

    static void install() throws IOException, InterruptedException {
        install("clients", HOME);
    }

    /**
     * Installs the packages of a lock file, which has their digests but no addresses: the registry is that of the
     * machine.
     *
     * @param name the directory of the lock file
     */
    static void install(String name, Path home) throws IOException, InterruptedException {
        Files.createDirectories(home);
        Path done = home.resolve("installed");
        String lock = Files.readString(SOURCES.resolve(name).resolve("package-lock.json"));
        if (Files.exists(done) && Files.readString(done).equals(lock)) {
            return;
        }
        for (String file : FILES) {
            Files.copy(SOURCES.resolve(name).resolve(file), home.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        boolean installed = false;
        try {
            Process npm = new ProcessBuilder(
                            "npm",
                            "ci",
                            "--prefix",
                            home.toString(),
                            "--prefer-offline",
                            "--no-audit",
                            "--no-fund",
                            "--ignore-scripts")
                    .redirectErrorStream(true)
                    .redirectOutput(home.resolve("install.log").toFile())
                    .start();
            installed = npm.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES) && npm.exitValue() == 0;
        } catch (IOException e) {
            // No npm.
        }
        assumeTrue(installed, "npm can't install the clients, see " + home.resolve("install.log"));
        Files.writeString(done, lock);
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
