package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.fixtures.process.Installation;
import dev.waymark.testkit.process.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official clients of MCP for TypeScript, Python and Java call agents of {@code ./waymark serve} and {@code ./waymark
 * mcp}. Skipped if npm, pip or Maven can't install them.
 */
@Tag("full")
@Tag("packages")
@Timeout(600)
class McpClientsTest {
    private static final Path HOME = Path.of("target", "mcp-clients").toAbsolutePath();
    private static final String WAYMARK =
            Path.of("").toAbsolutePath().resolveSibling("waymark").toString();

    private static Path agents;
    private static Dev dev;
    private static ReadyProcess serve;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        Installation.into(HOME, "src/test/mcp/install.sh", "npm, pip or Maven can't install the clients of MCP");
        agents = new Agents(directory)
                .agent("assistant", "description: Says hello\n", "replies:\n  - text: Hello.\n")
                .agent("billing", """
                        tools:
                          - name: charge_card
                            description: Charges
                            input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                            command: ["cat"]
                            approval: always
                        """, """
                        replies:
                          - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                          - text: Charged.
                        """)
                .directory();
        dev = Dev.inMemory(agents);
        serve = ReadyProcess.serve(dev.address());
    }

    @AfterAll
    static void stop() {
        if (serve != null) { // Both are null if the tests are skipped.
            serve.close();
        }
        if (dev != null) {
            dev.close();
        }
    }

    /** Runs one of the client programs in {@code src/test/mcp} with these arguments. */
    private static JsonNode play(String client, String scene, String transport) throws Exception {
        List<String> command = new ArrayList<>(
                switch (client.split(" ")[0]) {
                    case "python" -> List.of(HOME.resolve("python/bin/python").toString(), "client.py");
                    case "java" -> List.of(ChildProcess.javaCommand(), "-cp", "java/*", "SdkClient.java");
                    default -> List.of("node", "client.mjs");
                });
        command.addAll(List.of(client.replaceFirst("^(python|java) ", "").split(" ")));
        command.add(scene);
        command.addAll(
                transport.equals("http")
                        ? List.of("http", serve.address() + "/mcp")
                        : List.of("stdio", WAYMARK, "--address", dev.address(), "mcp", "--decide"));
        ChildProcess.Ended ended = ChildProcess.of(command).in(HOME).run(Duration.ofMinutes(1));
        assertThat(ended.exitCode()).as(ended.out() + " " + ended.err()).isZero();
        return new JsonMapper().readTree(ended.out());
    }

    @ParameterizedTest
    @CsvSource({
        "v1 legacy, http",
        "v1 legacy, stdio",
        "v2 legacy, http",
        "v2 modern, http",
        "v2 modern, stdio",
        "python legacy, http",
        "python legacy, stdio",
        "python modern, http",
        "python modern, stdio",
        "java legacy, http",
        "java legacy, stdio"
    })
    void agentIsCalled(String client, String transport) throws Exception {
        JsonNode played = play(client, "talk", transport);

        assertThat(played.path("tools").toString()).startsWith("[\"assistant\",\"billing\",\"start\"");
        assertThat(played.at("/result/content/0/text").asText()).isEqualTo("Hello.");
    }

    @ParameterizedTest
    @CsvSource({"v2 modern, http", "v2 modern, stdio", "python modern, http", "python modern, stdio"})
    void approvalIsAForm(String client, String transport) throws Exception {
        JsonNode played = play(client, "approve", transport);

        assertThat(played.path("asked").toString()).contains("charge_card", "8400");
        assertThat(played.at("/result/content/0/text").asText()).isEqualTo("Charged.");
    }

    @ParameterizedTest
    @CsvSource({"v1 legacy, http", "python legacy, stdio", "java legacy, http"})
    void clientWithoutForms_getsThePendingRequests(String client, String transport) throws Exception {
        JsonNode played = play(client, "approve", transport);

        assertThat(played.at("/result/structuredContent/status").asText()).isEqualTo("interrupted");
        assertThat(played.at("/result/content/0/text").asText()).contains("charge_card", "8400");
    }
}
