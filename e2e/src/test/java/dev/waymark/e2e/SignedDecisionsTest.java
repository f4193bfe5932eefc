package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An agent that requires signed decisions, from the creation of the key to the verification. */
@Tag("full")
@Timeout(300)
class SignedDecisionsTest {
    private static final Command LOCAL = Command.at("127.0.0.1:1");

    @TempDir
    Path directory;

    private String key(String name) {
        Command.Done made = LOCAL.run("keygen", directory.resolve(name + ".pem").toString());
        assertThat(made.exitCode()).as(made.err()).isZero();
        return made.out().strip();
    }

    @Test
    void decision_countsOnlyIfSigned() throws Exception {
        String ann = key("ann");
        key("eve");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("ann.pem"))))
                .isEqualTo("rw-------");
        new Agents(directory).signed("ann: \"" + ann + "\"");
        try (Dev dev = Dev.inMemory(directory)) {
            Command waymark = Command.at(dev.address());
            Command.Done asked = waymark.run("run", "--agent", "billing", "--thread", "trip", "--volatile", "Pay");
            assertThat(asked.exitCode()).as(asked.err()).isZero();
            assertThat(asked.err() + asked.out()).contains("--key FILE");

            Command.Done unsigned = waymark.run("approve", "trip", "--by", "ann", "--json");
            assertThat(unsigned.exitCode()).isEqualTo(2);
            assertThat(unsigned.json().at("/error/type").asText()).isEqualTo("SignatureRequired");
            try (Connection connection = Connection.to(dev.address())) {
                connection.client().newUntypedWorkflowStub("trip").signal(SignalNames.APPROVE, Map.of("by", "ann"));
            }
            assertThat(waymark.run(
                                    "approve",
                                    "trip",
                                    "--key",
                                    directory.resolve("eve.pem").toString())
                            .exitCode())
                    .isEqualTo(2);
            assertThat(waymark.run("show", "trip", "--json")
                            .json()
                            .at("/ignored/0/signal")
                            .asText())
                    .isEqualTo("approve");
            assertThat(directory.resolve("charged")).doesNotExist();

            Command.Done signed = waymark.run(
                    "approve", "trip", "--key", directory.resolve("ann.pem").toString(), "--json");
            assertThat(signed.exitCode()).as(signed.err()).isZero();
            assertThat(signed.json().at("/text").asText()).isEqualTo("Done.");
            assertThat(directory.resolve("charged")).hasContent("x");
            assertThat(waymark.run("calls", "trip", "--json")
                            .json()
                            .at("/0/approval/by")
                            .asText())
                    .isEqualTo("ann");
            Command.Done verified = waymark.run("verify", "trip");
            assertThat(verified.exitCode()).as(verified.out() + verified.err()).isZero();
        }
    }

    @Test
    void keygen_ofAFileThatExists_isRefused() {
        key("ann");

        Command.Done again = LOCAL.run("keygen", directory.resolve("ann.pem").toString());

        assertThat(again.exitCode()).isEqualTo(2);
        assertThat(again.err()).contains("the file already exists");
    }
}
