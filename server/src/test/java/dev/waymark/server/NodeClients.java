package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Third-party clients from npm, in Node programs. Tests with them are skipped if they are not available. */
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
     * Installs the packages of a lock file. The lock file has their digests but no addresses: the packages come from
     * the registry that the machine is configured with.
     *
     * @param name the directory of the lock file
     */
    static void install(String name, Path home) throws IOException, InterruptedException {
        Files.createDirectories(home);
        try (FileChannel lock = lockFile(home)) {
            lock.lock();
            Path done = home.resolve("installed");
            String packages = Files.readString(SOURCES.resolve(name).resolve("package-lock.json"));
            if (!Files.exists(done) || !Files.readString(done).equals(packages)) {
                Files.deleteIfExists(done);
                for (String file : FILES) {
                    Files.copy(
                            SOURCES.resolve(name).resolve(file),
                            home.resolve(file),
                            StandardCopyOption.REPLACE_EXISTING);
                }
                assumeTrue(runNpm(home), "npm can't install the clients, see " + home.resolve("install.log"));
                Files.writeString(done, packages);
            }
        }
    }

    /**
     * Opens the lock file of this directory. Test processes lock it while they write to the directory; closing the
     * channel releases the lock.
     */
    static FileChannel lockFile(Path home) throws IOException {
        return FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private static boolean runNpm(Path home) throws InterruptedException {
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
            return npm.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES) && npm.exitValue() == 0;
        } catch (IOException e) {
            // There is no npm.
            return false;
        }
    }

    /** Creates a directory next to the programs, for files that they read or import. */
    static Path directory(String name) throws IOException {
        return Files.createDirectories(HOME.resolve(name));
    }

    /** Copies a program to {@link #HOME}, and returns the command that runs it. */
    static ProcessBuilder program(String script, String... words) throws IOException {
        Path program = HOME.resolve(script);
        Path copy = Files.createTempFile(HOME, script, "");
        try (InputStream source = NodeClients.class.getResourceAsStream(script)) {
            Files.copy(Objects.requireNonNull(source), copy, StandardCopyOption.REPLACE_EXISTING);
        }
        // Replaces the file at once, because another test process may be reading it.
        Files.move(copy, program, StandardCopyOption.ATOMIC_MOVE);
        List<String> command = new ArrayList<>(List.of("node", program.toString()));
        command.addAll(List.of(words));
        return new ProcessBuilder(command);
    }

    /** Runs a program and returns its output as JSON. */
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
