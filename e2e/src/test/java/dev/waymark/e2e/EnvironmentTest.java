package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The environment variables that commands read, and those of the worker that tools can see. */
@Tag("full")
@Timeout(300)
class EnvironmentTest {
    private static final String CANARY = "sk-canary-of-the-environment";

    @TempDir
    Path directory;

    @Test
    void tool_readingAllProcesses_findsNoSecretsOfOthers() throws Exception {
        Assumptions.assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "no /proc");
        new Agents(directory).spy(CANARY);
        Map<String, String> environment = Map.of("OPENAI_API_KEY", CANARY + "-model", "GIVEN_TOKEN", CANARY + "-given");
        try (Dev dev = Dev.inMemory(directory, environment)) {
            Command.Done done = Command.at(dev.address()).run("run", "--agent", "spy", "Look");

            assertThat(done.exitCode()).as(done.err()).isZero();
            assertThat(done.out()).contains("found 0").containsPattern("found [1-9]");
        }
    }

    @Test
    void shownRequests_areRememberedPerServerInTheStateDirectory() throws Exception {
        new Agents(directory).charger("charger", 1, "");
        Path state = directory.resolve("state");
        try (Dev dev = Dev.inMemory(directory)) {
            Command command = Command.at(dev.address()).with("XDG_STATE_HOME", state.toString());
            Command elsewhere = Command.withoutAddress().with("XDG_STATE_HOME", state.toString());
            assertThat(command.run("run", "--agent", "charger", "--thread", "trip", "--volatile", "Charge it"))
                    .returns(0, Command.Done::exitCode);

            assertThat(command.run("pending").exitCode()).isZero();
            assertThat(elsewhere.run("pending", "--address", dev.address()).exitCode())
                    .isZero();

            try (Stream<Path> files = Files.list(state.resolve("waymark/shown"))) {
                assertThat(files).hasSize(1);
            }
            elsewhere.run("pending", "--address", "localhost:" + dev.address().split(":")[1]);
            try (Stream<Path> files = Files.list(state.resolve("waymark/shown"))) {
                assertThat(files).as("another address may be another server").hasSize(2);
            }
        }
    }

    @Test
    void unusableCodecKeys_areRefusedByEveryCommand() {
        new Agents(directory).greeter();
        Command command = Command.at("127.0.0.1:1").with("WAYMARK_CODEC_KEYS", "k1:c2VjcmV0");
        for (String[] arguments : new String[][] {
            {"worker", "--agents", directory.toString()},
            {"dev", "--in-memory", "--no-console", "--port", "0", "--agents", directory.toString()},
            {"sessions"},
            {"run", "Hello"},
        }) {
            Command.Done refused = command.run(arguments);

            assertThat(refused.exitCode()).as(arguments[0]).isEqualTo(2);
            assertThat(refused.err().lines())
                    .containsExactly(
                            "waymark: key 1 in WAYMARK_CODEC_KEYS has 6 bytes, not 32. A key is written ID:KEY, with 32"
                                    + " bytes in Base64, as printed by: openssl rand -base64 32");
        }
    }
}
