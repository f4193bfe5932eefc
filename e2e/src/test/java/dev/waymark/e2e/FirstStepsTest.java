package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One path through the whole product, following the beginning of the README. Other tests cover the rest of the command
 * line.
 */
@Timeout(300)
class FirstStepsTest {
    @TempDir
    private Path directory;

    @Test
    void thread_canBeStartedAnsweredShownAndVerified() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        try (Dev dev = Dev.inMemoryAndKept(agents)) {
            Command waymark = Command.at(dev.address());
            Done asked = waymark.run("run", "--agent", "assistant", "--thread", "trip", "Book a table");
            Done answered = waymark.run("answer", "trip", "Friday");

            assertThat(asked).returns(0, Done::exitCode).returns("Which day?\n", Done::out);
            assertThat(answered).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
            assertThat(waymark.run("checkpoint", "trip").out()).contains("Friday");
            assertThat(waymark.run("verify", "trip")).returns(0, Done::exitCode);
        }
    }
}
