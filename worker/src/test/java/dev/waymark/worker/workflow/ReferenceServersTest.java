package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.McpServer;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.process.Installation;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.tool.mcp.ConformanceClient;
import dev.waymark.worker.tool.mcp.McpEntry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The MCP reference servers in JavaScript and Python, and servers with the official SDKs of TypeScript, Python and
 * Java, in both eras, and the protocol's conformance suite. Skipped if they cannot be installed.
 */
@Tag("full")
@Tag("packages")
class ReferenceServersTest {
    private static final Path HOME = Path.of("target", "mcp-servers").toAbsolutePath();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @BeforeAll
    static void install() throws Exception {
        Installation.into(
                HOME, "src/test/mcp/install.sh", "npm, pip or Maven can't install the reference servers of MCP");
    }

    private static McpServer node(String name, String... words) {
        String program = HOME.resolve("node_modules/@modelcontextprotocol/server-" + words[0] + "/dist/index.js")
                .toString();
        return McpServer.program(name, List.of("node", program, words[1]), Map.of());
    }

    private static WorkflowRig rig(McpServer server, boolean trust, String tool, Map<String, Object> args) {
        McpEntry entry =
                new McpEntry(server, trust, Optional.empty(), List.of(), Map.of(), PATIENCE, false, false, false);
        Part.ToolUse call = new Part.ToolUse("tu_1", tool, Json.of(args));
        return new WorkflowRig(TestServers.inMemory(), ToolProtocolCases.calling(call)).withServers(entry);
    }

    private static String start(WorkflowRig rig) {
        return rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
    }

    private static Conversation turn(McpServer server, boolean trust, String tool, Map<String, Object> args) {
        try (WorkflowRig rig = rig(server, trust, tool, args)) {
            return rig.awaitTurn(start(rig), 1);
        }
    }

    @Test
    void everything_overStdio() {
        McpServer everything = node("everything", "everything", "stdio");

        assertThat(turn(everything, true, "everything_get-sum", Map.of("a", 2, "b", 40))
                        .turn()
                        .text())
                .isEqualTo("The sum of 2 and 40 is 42.;");
        assertThat(turn(everything, true, "everything_get-tiny-image", Map.of())
                        .turn()
                        .text())
                .contains("[image image/png, ");
    }

    @Test
    void everything_overHttp() throws Exception {
        int port = freePort();
        ProcessBuilder builder = new ProcessBuilder(
                        "node",
                        HOME.resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
                                .toString(),
                        "streamableHttp")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile());
        builder.environment().put("PORT", Integer.toString(port));
        Process process = builder.start();
        try {
            await().atMost(PATIENCE).until(() -> accepts(port));
            McpServer everything = McpServer.at("everything", "http://127.0.0.1:" + port + "/mcp", Map.of());

            Conversation state = turn(everything, false, "everything_get-sum", Map.of("a", 2, "b", 40));

            assertThat(state.turn().text()).isEqualTo("The sum of 2 and 40 is 42.;");
            assertThat(state.calls().get("tu_1").orElseThrow().claim()).isPresent();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void filesystem_writesOnce() throws Exception {
        Path root = directory.toRealPath();
        McpServer files = node("files", "filesystem", root.toString());

        Conversation state =
                turn(files, false, "files_write_file", Map.of("path", root + "/note.txt", "content", "Hello"));

        assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(Files.readString(root.resolve("note.txt"))).isEqualTo("Hello");
    }

    @Test
    void time_inPython() {
        McpServer time = McpServer.program(
                "time", List.of(HOME.resolve("python/bin/mcp-server-time").toString()), Map.of());

        Conversation state = turn(
                time,
                true,
                "time_convert_time",
                Map.of("source_timezone", "UTC", "time", "12:00", "target_timezone", "Asia/Tokyo"));

        assertThat(state.turn().text()).contains("21:00");
    }

    /** The command that starts a server with an SDK. */
    private static List<String> words(String sdk) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String jars = HOME.resolve("java") + "/*";
        return switch (sdk) {
            case "python" -> List.of(HOME.resolve("python/bin/python").toString(), HOME + "/server.py");
            case "java" -> List.of(java, "-cp", jars, HOME + "/SdkServer.java");
            default -> List.of("node", HOME + "/sdk/server.mjs", sdk.substring("typescript ".length()));
        };
    }

    private static McpServer stdio(String sdk) {
        List<String> command = new ArrayList<>(words(sdk));
        command.add("stdio");
        return McpServer.program("sdk", command, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"typescript v1", "typescript v2", "python", "java"})
    void sdk_overStdio(String sdk) {
        assertThat(turn(stdio(sdk), false, "sdk_sum", Map.of("a", 2, "b", 40))
                        .turn()
                        .text())
                .isEqualTo("42;");
    }

    @Test
    void sdkOfBothEras_isCalledWithoutAHandshake() {
        assertThat(turn(stdio("typescript v2"), false, "sdk_era", Map.of())
                        .turn()
                        .text())
                .isEqualTo("modern;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"typescript v2", "python"})
    void sdkThatRequiresInput_isAnsweredByAnotherWorker(String sdk) throws Exception {
        int port = freePort();
        List<String> command = new ArrayList<>(words(sdk));
        command.addAll(List.of("http", Integer.toString(port)));
        try (ChildProcess server = ChildProcess.of(command)
                        .outputTo(directory.resolve("log"))
                        .start();
                WorkflowRig rig = rig(
                        McpServer.at("sdk", "http://127.0.0.1:" + port + "/mcp", Map.of()),
                        false,
                        "sdk_deploy",
                        Map.of("place", "Oslo"))) {
            await().atMost(PATIENCE).until(() -> accepts(port));
            String thread = start(rig);
            assertThat(McpTasksTest.awaitQuestion(rig, thread).asks().get(0).question())
                    .contains("sdk_deploy asks: Deploy to Oslo?\nConfirm: true or false");
            rig.replaceWorker();

            McpTasksTest.answer(rig, thread, "yes");

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("deployed to Oslo;");
        }
    }

    /**
     * The scenarios of the protocol's conformance suite for clients with tools. The others are for features that are
     * refused: sign-in in a browser, streams that are resumed, skills.
     */
    @ParameterizedTest
    @CsvSource({
        "initialize, 2025-11-25",
        "tools_call, 2025-06-18",
        "tools_call, 2025-11-25",
        "tools_call, 2026-07-28",
        "request-metadata, 2026-07-28",
        "sep-2322-client-request-state, 2026-07-28",
        "http-standard-headers, 2026-07-28",
        "http-custom-headers, 2026-07-28",
        "http-invalid-tool-headers, 2026-07-28",
        "json-schema-ref-no-deref, 2026-07-28",
        "json-schema-2020-12-preservation, 2025-11-25",
        "json-schema-2020-12-preservation, 2026-07-28",
        "auth/client-credentials-basic, 2026-07-28"
    })
    void conformance(String scenario, String version) throws Exception {
        Path client = directory.resolve("client");
        Files.writeString(
                client,
                "#!/bin/sh\nexec '"
                        + String.join(
                                "' '", ChildProcess.javaCommand(ChildProcess.SHORT_LIVED, ConformanceClient.class))
                        + "' \"$@\"\n");
        Files.setPosixFilePermissions(client, PosixFilePermissions.fromString("rwx------"));
        List<String> command = new ArrayList<>(List.of(
                "node",
                HOME + "/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js",
                "client",
                "--command",
                client.toString(),
                "--scenario",
                scenario));
        if (!scenario.startsWith("auth/")) { // Extensions have no version.
            command.addAll(List.of("--spec-version", version));
        }

        ChildProcess.Ended ended = ChildProcess.of(command).in(directory).run(PATIENCE);

        assertThat(ended.out() + ended.err()).containsPattern("Passed: ([1-9]\\d*)/\\1, 0 failed, 0 warnings");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
