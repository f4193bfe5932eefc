package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class SubagentCommandsTest extends SubagentCommandsCases {
    @Override
    Dev serverWithoutWorker(Path folder) {
        return Dev.inMemoryWithoutWorker(folder);
    }

    @Test
    void approval_ofASubagentsCall_isGivenInTheRootThread() throws IOException {
        JsonNode asked = json(
                "run",
                "--agent",
                "boss",
                "--thread",
                "firm",
                "--volatile",
                "--context",
                "{\"tenant\":\"acme\"}",
                "Charge them",
                "--json");
        assertThat(asked.path("status").asText()).isEqualTo("interrupted");
        assertThat(asked.path("question").asText()).isEqualTo("May charge_card {\"cents\": 500} run?");
        JsonNode item = asked.path("pending").path(0);
        assertThat(item.path("callId").asText()).isEqualTo("tu_7/tu_1");
        assertThat(asked.path("costUsd").decimalValue()).isEqualByComparingTo("0.04");
        JsonNode everyones = json("pending", "--json");
        assertThat(everyones)
                .filteredOn(each -> each.path("tool").asText().equals("charge_card"))
                .containsExactly(item);

        replaceWorker("second.log");
        Done stale = waymark.run("approve", "firm", "--digest", "e3b0", "--json");
        assertThat(stale.exitCode()).isEqualTo(2);
        JsonNode done =
                json("approve", "firm", "--digest", item.path("argsDigest").asText(), "--by", "ann", "--json");

        assertThat(done.path("text").asText()).isEqualTo("It is done.");
        assertThat(done.path("costUsd").decimalValue()).isEqualByComparingTo("0.08");
        assertThat(done.path("usage").path("inputTokens").asInt()).isEqualTo(8_000);
        assertThat(json("result", "firm/tu_7", "--json").path("costUsd").decimalValue())
                .isEqualByComparingTo("0.06");
        assertThat(Files.readAllLines(directory.resolve("clerk.ledger")))
                .containsExactly("{\"cents\":500} {\"tenant\": \"acme\"}");
        JsonNode call = json("calls", "firm/tu_7", "--json").path(0);
        assertThat(call.path("approval").path("by").asText()).isEqualTo("ann");
        assertThat(json("calls", "firm", "--json").path(0).path("status").asText())
                .isEqualTo("completed");
        assertThat(waymark.run("verify", "firm").exitCode()).isZero();
        assertThat(waymark.run("verify", "firm/tu_7").exitCode()).isZero();
    }

    @Test
    void approval_twoLevelsDownWithInvalidArguments_isRefused() throws IOException {
        json("run", "--agent", "owner", "--thread", "own", "--volatile", "Go", "--json");
        JsonNode item = json("pending", "own", "--json").path(0);
        assertThat(item.path("callId").asText()).isEqualTo("tu_7/tu_7/tu_1");

        Done misfit = waymark.run("approve", "own", "--args", "{\"cents\":\"400\"}", "--json");
        assertThat(misfit.exitCode()).isEqualTo(2);
        assertThat(misfit.json().path("error").path("type").asText()).isEqualTo("BadInput");
        assertThat(misfit.err()).contains("charge_card: /cents: string found, integer expected");

        assertThat(json("pending", "own", "--json").path(0)).isEqualTo(item);
        assertThat(waymark.run("approve", "own", "--args", "{\"cents\":400}").out())
                .isEqualTo("It is done.\n");
        assertThat(Files.readAllLines(directory.resolve("till.ledger"))).containsExactly("{\"cents\":400}");
    }

    @Test
    void checkpoint_ofASubagent_canBeSavedAndResumed() {
        json("run", "--agent", "planner", "--thread", "plan", "--volatile", "Go", "--json");
        assertThat(json("checkpoint", "plan").has("pendingToolUseId")).isFalse();
        JsonNode below = json("checkpoint", "plan/tu_7");
        assertThat(below.path("pendingToolUseId").asText()).isEqualTo("tu_7");
        assertThat(below.path("messages").path(0).path("content").asText()).isEqualTo("Go.");

        assertThat(waymark.run("answer", "plan", "Friday").out()).isEqualTo("It is done.\n");

        String target = "file:" + directory.resolve("saved");
        assertThat(waymark.run("save", "plan/tu_7", "--to", target).exitCode()).isZero();
        JsonNode again = json("resume", "plan/tu_7", "--from", target, "--agent", "assistant", "--json");
        assertThat(again.path("text").asText()).isEqualTo("Booked.");
        assertThat(json("sessions", "--json"))
                .extracting(each -> each.path("thread").asText())
                .contains("plan", "plan/tu_7");
    }
}
