package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Conversations that are saved to a file or a database, and continue on another server. */
@Tag("full")
class SaveTest {
    @TempDir
    static Path directory;

    private static Dev here;
    private static Dev elsewhere;
    private static Command waymark;

    @BeforeAll
    static void startTwoServers() throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        here = Dev.inMemory(agents);
        elsewhere = Dev.inMemory(agents);
        waymark = Command.warmAt(here.address());
    }

    @AfterAll
    static void stopBoth() {
        if (here != null) {
            here.close();
        }
        if (elsewhere != null) {
            elsewhere.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:%s/checkpoints", "jdbc:sqlite:%s/checkpoints.db?namespace=trips"})
    void save_openQuestion_isAnsweredOnAnotherServer(String place) {
        String target = String.format(place, directory);
        String thread = "trip/" + Integer.toHexString(place.hashCode());
        waymark.run("run", "--agent", "assistant", "--thread", thread, "--volatile", "Book it");

        JsonNode saved = waymark.run("save", thread, "--to", target, "--json").json();
        Done resumed = Command.warmAt(elsewhere.address())
                .run(
                        "resume",
                        thread,
                        "--from",
                        target,
                        "--agent",
                        "assistant",
                        "--answer",
                        "Friday",
                        "--volatile",
                        "--json");

        assertThat(saved.get("type").textValue()).isEqualTo("checkpoint-saved");
        assertThat(saved.get("threadId").textValue()).isEqualTo(thread);
        assertThat(resumed.json().get("text").textValue()).isEqualTo("Booked.");
        assertThat(resumed.json().get("checkpoint").get("messages").toString()).contains("Book it", "Friday");
    }

    /** Uses a separate process, in which the driver is the first library that looks for a logger. */
    @Test
    void resume_fromDatabase_printsNoLoggingLibraryOutput() {
        String target = "jdbc:sqlite:" + directory.resolve("logged.db");

        Done done = Command.at(here.address()).run("resume", "nobody", "--from", target);

        assertThat(done.exitCode()).isEqualTo(3);
        assertThat(done.out()).isEmpty();
        assertThat(done.err()).startsWith("waymark: ").doesNotContain("SLF4J").hasLineCount(1);
    }

    @Test
    void save_unusableTarget_isRefusedInOneLine() {
        waymark.run("run", "--agent", "assistant", "--thread", "lost", "--volatile", "Book it");

        assertThat(waymark.run("save", "lost", "--to", "redis://nowhere"))
                .returns(2, Done::exitCode)
                .returns("", Done::out)
                .extracting(Done::err)
                .asString()
                .startsWith("waymark: not a supported saver: redis://nowhere. Use file:DIRECTORY,");
        assertThat(waymark.run("save", "lost", "--to", "jdbc:postgresql://127.0.0.1:1/none"))
                .returns(7, Done::exitCode)
                .extracting(done -> done.err().lines().count())
                .isEqualTo(1L);
        assertThat(waymark.run("resume", "nobody", "--from", "file:" + directory.resolve("empty")))
                .returns(3, Done::exitCode);
    }
}
