package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.model.ModelAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@Tag("full")
class LiveModelServerTest extends LiveModelCases {
    @Override
    Dev serverWithoutWorker(Path folder) {
        return Dev.durableWithoutWorker(folder);
    }

    /** Returns whether the watch has printed an event of this type after the first event of type {@code that}. */
    private static boolean after(Watching watching, String that, String type) {
        List<String> types = watching.lines().stream()
                .map(line -> line.path("type").asText())
                .toList();
        return types.lastIndexOf(type) > types.indexOf(that);
    }

    @Test
    void worker_killedInMidReply_storesTheReplyOnce() {
        int before = anthropic.received().size();
        anthropic.answers(
                ModelAnswer.says("Once ", "upon ").silentAfter(2), ModelAnswer.says("Once ", "upon ", "a ", "time."));

        try (Watching watching = begin("teller", "tale")) {
            await().atMost(PATIENCE)
                    .until(() -> said(watching.lines("text-delta"), 1).equals("Once upon "));
            worker.kill();
            worker = newWorker("second.log");
            await().atMost(PATIENCE)
                    .until(() -> !watching.lines("model-replied").isEmpty());

            assertThat(watching.lines("model-replied")).hasSize(1);
            assertThat(said(watching.lines("text-delta"), 1)).isEqualTo("Once upon ");
            assertThat("Once upon a time.").startsWith(said(watching.lines("text-delta"), 2));
        }
        assertThat(anthropic.received()).hasSize(before + 2);
        assertThat(waymark.run("result", "tale").out()).isEqualTo("Once upon a time.\n");
        JsonNode messages = waymark.run("show", "tale", "--json").json().path("messages");
        assertThat(messages).hasSize(2);
        assertThat(waymark.run("verify", "tale").exitCode()).isZero();
    }

    /** A call costs 0.006 USD according to the price table, and the killed attempt had reported 0.001005 USD. */
    @Test
    void loopingModel_acrossCrashAndResume_stopsAtItsBudget() throws IOException {
        int before = anthropic.received().size();
        ModelAnswer.Speech looking =
                ModelAnswer.says("Let me see.").calls("tu_1", "look", "{}").using(1_000, 1_000);
        anthropic.answers(looking, looking.silentAfter(1), looking);

        assertThat(waymark.run(
                                "run",
                                "--agent",
                                "looper",
                                "--thread",
                                "loop",
                                "--max-iterations",
                                "2",
                                "--volatile",
                                "--no-wait",
                                "Look")
                        .exitCode())
                .isZero();
        try (Watching watching = Watching.start(server.address(), "loop")) {
            await().atMost(PATIENCE)
                    .until(() -> anthropic.received().size() == before + 2
                            && !watching.lines("model-replied").isEmpty()
                            && after(watching, "model-replied", "text-delta"));
            worker.kill();
            worker = newWorker("third.log");
            JsonNode first = waymark.run("result", "loop", "--json").json();

            assertThat(first.path("status").asText()).isEqualTo("max-iterations");
            assertThat(first.path("costUsd").decimalValue()).isEqualByComparingTo("0.013005");
        }
        Path checkpoint = Files.writeString(
                directory.resolve("loop.json"),
                waymark.run("checkpoint", "loop", "--format", "session").out());
        JsonNode second = waymark.run(
                        "resume",
                        checkpoint.toString(),
                        "--agent",
                        "looper",
                        "--thread",
                        "loop-again",
                        "--volatile",
                        "--answer",
                        "Look again",
                        "--json")
                .json();

        assertThat(second.path("status").asText()).isEqualTo("budget");
        assertThat(second.path("costUsd").decimalValue()).isEqualByComparingTo("0.031005");
        assertThat(second.at("/error/message").asText()).contains("0.03 USD is spent: 0.031005 USD");
        assertThat(anthropic.received()).hasSize(before + 6);
        assertThat(anthropic.complaints()).isEmpty();
    }

    @Test
    void key_echoedByTheService_isInNoOutput() throws IOException {
        openai.answers(ModelAnswer.error(
                401, "{\"error\":{\"code\":\"invalid_api_key\",\"message\":\"wrong: " + ModelServer.KEY + "\"}}"));

        Command.Done done = waymark.run("run", "--agent", "other", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(1);
        assertThat(done.json().at("/error/type").asText()).isEqualTo("Unauthorized");
        assertThat(done.out() + done.err() + Files.readString(worker.log()))
                .contains("wrong: [key]")
                .doesNotContain(ModelServer.KEY);
    }
}
