package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker whose heap is too small, in the process that {@code ./waymark worker} starts. */
@Tag("full")
@Timeout(300)
class OutOfMemoryTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** The exit code of a JVM with {@code -XX:+ExitOnOutOfMemoryError}. */
    private static final int OUT_OF_MEMORY = 3;

    @TempDir
    Path directory;

    @Test
    void worker_outOfMemory_exitsAndTheNextOneCompletesTheTurn() throws Exception {
        Path agents = new Agents(directory).greeter().directory();
        Path script = agents.resolve("greeter.script.yaml");
        String reply = Files.readString(script);
        try (Dev server = Dev.inMemoryWithoutWorker(agents)) {
            Command waymark = Command.at(server.address());
            Map<String, String> small = Map.of("JAVA_TOOL_OPTIONS", "-Xmx96m");
            try (CliWorkerProcess worker = worker(server, small, "small.log")) {
                assertThat(waymark.run("run", "--agent", "greeter", "Hi")).returns("Hello.\n", Done::out);

                // Parsed, the script takes a hundred times the size of its file.
                Files.writeString(script, "replies: [" + "a,".repeat(2_000_000) + "a]");
                waymark.run("run", "--agent", "greeter", "--thread", "large", "--volatile", "--no-wait", "Hi");

                assertThat(worker.exitCodeWithin(Duration.ofMinutes(1))).hasValue(OUT_OF_MEMORY);
                assertThat(worker.output()).contains("java.lang.OutOfMemoryError");
            }
            Files.writeString(script, reply);
            try (CliWorkerProcess next = worker(server, Map.of(), "next.log")) {
                assertThat(waymark.run("result", "large")).returns("Hello.\n", Done::out);
                assertThat(next.exitCodeWithin(Duration.ZERO)).isEmpty();
            }
        }
    }

    private CliWorkerProcess worker(Dev server, Map<String, String> environment, String log) {
        return CliWorkerProcess.start(server.address(), directory, environment, directory.resolve(log));
    }

    /** The image starts {@code ./waymark}, and Docker Compose always restarts the worker. */
    @Test
    void worker_inDockerCompose_isRestarted() throws Exception {
        String composition = Files.readString(ROOT.resolve("docker-compose.yml"));
        String defaults = block(composition, "x-defaults: &defaults\n");
        String worker = block(composition, "  worker:\n");

        assertThat(defaults).contains("\n  restart: unless-stopped\n");
        assertThat(worker)
                .contains("\n    <<: *defaults\n", "\n    build: .\n", "\n    command: [worker, ")
                .doesNotContain("restart:", "entrypoint:");
        assertThat(Files.readString(ROOT.resolve("Dockerfile")))
                .contains("\nENTRYPOINT [\"tini\", \"--\", \"./waymark\"]\nCMD [\"worker\", ");
    }

    /** Returns the lines that follow a key and are indented further. */
    private static String block(String yaml, String key) {
        assertThat(yaml).contains("\n" + key);
        String below = yaml.substring(yaml.indexOf("\n" + key) + key.length());
        String indent = " ".repeat(key.length() - key.stripLeading().length());
        return below.split("\n(?=" + indent + "[^ \n#])", 2)[0];
    }
}
