package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code waymark dev} with the in-memory server, started as in the README: no request is refused, and named threads
 * survive the server.
 */
@Timeout(300)
@Tag("full")
class DefaultSaverTest {
    @TempDir
    private Path directory;

    @Test
    void namedThread_onTheNextServer_continuesWithoutMessages() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            Done asked =
                    Command.at(dev.address()).run("run", "--agent", "assistant", "--thread", "trip", "Book a table");
            assertThat(asked.out()).isEqualTo("Which day?\n");
            assertThat(asked.exitCode()).isZero();
        }
        assertThat(agents.resolve(".waymark/threads")).isNotEmptyDirectory();
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            Command waymark = Command.withoutAddress();
            Done shown = waymark.run("show", "trip", "--address", dev.address());
            assertThat(shown.err())
                    .contains("the saver has it: trip. Restore it with: waymark run --thread trip --address "
                            + dev.address() + "\n");
            Done asked = waymark.run("run", "--thread", "trip", "--address", dev.address());
            assertThat(asked.err()).endsWith("waymark answer trip TEXT --address " + dev.address() + "\n");
            String kept = "file:" + directory.resolve("kept");
            String address = "--address=" + dev.address();
            Done begun = waymark.run(
                    "run", "--agent", "assistant", "--thread", "b", "--no-wait", "--saver", kept, address, "Go");
            assertThat(begun.err()).contains("waymark save b --to " + kept + " --follow --address " + dev.address());
            Done answered = waymark.run("answer", "trip", "Friday", "--address", dev.address());
            assertThat(answered.out()).isEqualTo("Booked.\n");
            assertThat(answered.exitCode()).isZero();
        }
    }

    @Test
    void volatileOrUnnamedThread_isNotSaved() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .greeter()
                .directory();
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            Command waymark = Command.at(dev.address());
            assertThat(waymark.run("run", "--agent", "greeter", "--thread", "passing", "--volatile", "Hi")
                            .out())
                    .isEqualTo("Hello.\n");
            assertThat(waymark.run("run", "--agent", "greeter", "Hi").out()).isEqualTo("Hello.\n");
        }
        assertThat(agents.resolve(".waymark/threads")).doesNotExist();
    }

    @Test
    void chat_onTheNextServer_showsEarlierMessages() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        String[] chat = {"chat", "--agent", "assistant", "--session", "trip"};
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            assertThat(Command.at(dev.address())
                            .runTyping("Book a table\n", chat)
                            .out())
                    .endsWith("Which day?\n");
        }
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            assertThat(Command.at(dev.address()).runTyping("Friday\n", chat).out())
                    .contains("Book a table", "Which day?")
                    .endsWith("Booked.\n");
        }
    }
}
