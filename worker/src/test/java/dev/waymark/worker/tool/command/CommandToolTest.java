package dev.waymark.worker.tool.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.ToolThread;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs as tools of agents, run by a complete worker. */
@Timeout(120)
class CommandToolTest {
    private static final Json CENTS = Json.of(Map.of(
            "type", "object", "required", List.of("cents"), "properties", Map.of("cents", Map.of("type", "integer"))));

    @TempDir
    Path directory;

    private final ToolThread thread = new ToolThread();

    private ToolSpec.Builder charge(String end) {
        return ToolSpec.command("charge", "/bin/sh", "-c", "echo charged >> \"$0\"; " + end, ledger())
                .timeout(Duration.ofSeconds(2));
    }

    private String ledger() {
        return directory.resolve("ledger").toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"kill -9 $$", "kill -TERM $$", "exit 200", "sleep 60"})
    @Tag("full")
    void effectBeforeAnInconclusiveEnd_isVerifiedAndHappensOnce(String end) throws Exception {
        ToolSpec tool = charge(end)
                .verify("echo", "{\"landed\": true, \"result\": \"charged before\"}")
                .build();

        assertThat(thread.run(tool, Map.of("cents", 5))).isEqualTo("charged before");
        assertThat(Files.readAllLines(Path.of(ledger()))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"kill -9 $$", "exit 137"})
    void programEndedByASignal_withoutVerification_isReportedAsUnknown(String end) throws Exception {
        assertThat(thread.run(charge(end).build(), Map.of("cents", 5)))
                .startsWith("{\"error\":\"Tool 'charge' (call tu_1)");
        assertThat(thread.history().getHistory().toString()).contains("exit code 137 (signal 9)");
        assertThat(Files.readAllLines(Path.of(ledger()))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 127})
    void exitCodesOfTheProgram_areErrorsThatTheModelSees(int code) {
        assertThat(thread.run(charge("exit " + code).build(), Map.of("cents", 5)))
                .isEqualTo("Tool error: exit code " + code);
    }

    @ParameterizedTest
    @ValueSource(strings = {"kill -9 $$", "sleep 60"})
    void unknownEnd_ofASafeTool_isAnErrorThatTheModelSees(String end) {
        assertThat(thread.run(charge(end).safeToRetry().build(), Map.of("cents", 5)))
                .startsWith("Tool error: ");
    }

    @Test
    void mismatchingResult_isUnknownUntilVerified() throws Exception {
        ToolSpec tool = charge("echo '{\"cents\": \"five\"}'")
                .output(CENTS)
                .verify("echo", "{\"landed\": true, \"result\": \"charged before\"}")
                .build();

        assertThat(thread.run(tool, Map.of("cents", 5))).isEqualTo("charged before");
        assertThat(Files.readAllLines(Path.of(ledger()))).hasSize(1);
    }

    @Test
    void mismatchingResult_ofASafeTool_isAnErrorThatTheModelSees() {
        ToolSpec tool = charge("echo '{\"cents\": \"five\"}'")
                .output(CENTS)
                .safeToRetry()
                .build();

        assertThat(thread.run(tool, Map.of("cents", 5))).startsWith(ToolTexts.invalidOutput("charge", ""));
    }
}
