package dev.waymark.worker.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools that a front end runs, in agent files and in histories. */
class FrontEndToolTest {
    private static final String AGENT = """
            model: plain:m
            tools:
              - name: pick
                description: Picks
                input: { type: object }
            """;

    @TempDir
    Path directory;

    @Test
    void tool_declared_isStoredWithItsKind() throws Exception {
        ToolSpec expected = ToolSpec.frontEnd("pick")
                .describedAs("Picks", Json.of(Map.of("type", "object")))
                .build();

        ToolSpec tool = tool("    front_end: true\n");

        assertThat(tool).isEqualTo(expected);
        String stored = PayloadJson.MAPPER.writeValueAsString(tool);
        assertThat(stored).contains("\"kind\":\"front-end\"");
        assertThat(PayloadJson.MAPPER.readValue(stored, ToolSpec.class)).isEqualTo(tool);
        assertThat(tool("    front_end: true\n    approval: always\n").approval())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "front_end: false                       | front_end: leave it out, or set it to true",
                "front_end: [a]                         | front_end: leave it out, or set it to true",
                "front_end: true, safe_to_retry: true   | safe_to_retry: not allowed with front_end",
                "front_end: true, verify: [true]        | verify: not allowed with front_end",
                "front_end: true, timeout: 5s           | timeout: not allowed with front_end",
                "front_end: true, output: {type: string} | output: not allowed with front_end",
                "front_end: true, command: [cat]        | command: not allowed with front_end",
            })
    void unsuitableField_isReportedWithItsLine(String fields, String problem) {
        String lines = "    " + fields.replaceAll(", (?=[a-z_]+: )", "\n    ") + "\n";

        AgentInvalid problems = catchThrowableOfType(AgentInvalid.class, () -> tool(lines));

        assertThat(problems.getMessage() + "\n" + String.join("\n", problems.others()))
                .contains(problem);
    }

    private ToolSpec tool(String more) throws AgentInvalid, IOException {
        Files.writeString(directory.resolve("a.yaml"), AGENT + more);
        ModelProviders providers = ModelProviders.fromEnvironment().plus(Map.of("plain", request -> Reply.of()));
        return AgentDirectory.load(directory, providers, JavaTools.NONE)
                .find("a")
                .orElseThrow()
                .tool("pick")
                .orElseThrow();
    }
}
