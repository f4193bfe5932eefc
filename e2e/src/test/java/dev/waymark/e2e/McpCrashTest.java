package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ReadyProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls over MCP that wait for a decision or whose tool runs, while {@code serve}, workers and Temporal are killed. */
@Tag("full")
@Timeout(300)
class McpCrashTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final JsonMapper JSON = new JsonMapper();
    private static final String VERSION = "2026-07-28";
    private static final String META = "'io.modelcontextprotocol/protocolVersion':'" + VERSION
            + "','io.modelcontextprotocol/clientCapabilities':{'elicitation':{},"
            + "'extensions':{'io.modelcontextprotocol/tasks':{}}}";
    private static final String CALL = "'name':'billing','arguments':{'message':'Charge'},"
            + "'_meta':{'dev.waymark/idempotency-key':'order-7'," + META + "}";

    @TempDir
    private Path directory;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    private CliWorkerProcess worker(Dev dev, String name) {
        return CliWorkerProcess.start(dev.address(), directory, Map.of(), directory.resolve(name + ".log"));
    }

    private static JsonNode send(ReadyProcess server, String method, String name, String params) throws Exception {
        ObjectNode message =
                JSON.createObjectNode().put("jsonrpc", "2.0").put("id", 1).put("method", method);
        message.set("params", JSON.readTree(("{" + params + "}").replace('\'', '"')));
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.address() + "/mcp"))
                .header("Content-Type", "application/json")
                .header("MCP-Protocol-Version", VERSION)
                .header("Mcp-Method", method)
                .header("Mcp-Name", name)
                .POST(HttpRequest.BodyPublishers.ofString(message.toString()))
                .build();
        return JSON.readTree(
                HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    private static JsonNode awaitTask(ReadyProcess server, String id, String status) {
        return await().atMost(Duration.ofSeconds(90))
                .pollInterval(Duration.ofMillis(200))
                .until(
                        () -> send(server, "tasks/get", id, "'taskId':'" + id + "','_meta':{" + META + "}")
                                .path("result"),
                        task -> task.path("status").asText().equals(status));
    }

    @Test
    void waitingCall_serveAndWorkersKilled_isDecidedOnce() throws Exception {
        Path charged = directory.resolve("charged");
        Agents agents = new Agents(directory);
        agents.program("charge", "echo charged >> " + charged + "\necho charged");
        writeBilling(agents, "approval: always", "Charged.");
        try (Dev dev = Dev.inMemoryWithoutWorker(directory)) {
            String id;
            try (ReadyProcess first = ReadyProcess.serve(dev.address())) {
                id = send(first, "tools/call", "billing", CALL)
                        .at("/result/taskId")
                        .asText();
            }
            assertThat(id).startsWith("t-");
            try (ReadyProcess second = ReadyProcess.serve(dev.address())) {
                assertThat(send(second, "tools/call", "billing", CALL)
                                .at("/result/taskId")
                                .asText())
                        .as("the same call")
                        .isEqualTo(id);
                String key;
                try (CliWorkerProcess worker = worker(dev, "first")) {
                    key = awaitTask(second, id, "input_required")
                            .path("inputRequests")
                            .fieldNames()
                            .next();
                    worker.kill();
                }
                String update = "'taskId':'" + id + "','inputResponses':{'" + key
                        + "':{'action':'accept','content':{'decision':'approve'}}},'_meta':{" + META + "}";
                assertThat(send(second, "tasks/update", id, update)
                                .at("/error/data/type")
                                .asText())
                        .as("nobody takes it")
                        .isEqualTo("NoWorker");
                try (CliWorkerProcess worker = worker(dev, "second");
                        ReadyProcess third = ReadyProcess.serve(dev.address())) {
                    assertThat(send(third, "tasks/update", id, update).has("result"))
                            .isTrue();
                    assertThat(send(third, "tasks/update", id, update).has("result"))
                            .isTrue();
                    assertThat(awaitTask(third, id, "completed")
                                    .at("/result/content/0/text")
                                    .asText())
                            .isEqualTo("Charged.");
                    worker.kill();
                }
            }
        }
        assertThat(Files.readAllLines(charged)).hasSize(1);
    }

    @Test
    void callWaitingAgain_hasAnotherKey() throws Exception {
        new Agents(directory).agent("billing", """
                tools:
                  - name: charge_card
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: [sleep, "60"]
                    timeout: 1s
                    approval: always
                    on_unknown: ask
                    honours_key: true
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                  - text: So be it.
                """);
        try (Dev dev = Dev.inMemory(directory);
                ReadyProcess server = ReadyProcess.serve(dev.address())) {
            String id = send(server, "tools/call", "billing", CALL)
                    .at("/result/taskId")
                    .asText();
            String approval = fillIn(server, id, "'decision':'approve'");
            String unknown = fillIn(server, id, "'outcome':'rerun'");
            String again = fillIn(server, id, "'outcome':'done','result':'charged'");

            assertThat(awaitTask(server, id, "completed")
                            .at("/result/content/0/text")
                            .asText())
                    .isEqualTo("So be it.");
            assertThat(List.of(approval, unknown, again))
                    .doesNotHaveDuplicates()
                    .allMatch(key -> key.startsWith("tu_1~"));
        }
    }

    /** What is killed with SIGKILL while a tool runs. */
    private enum Killed {
        WORKER,
        SERVE,
        WORKER_AND_SERVE,
        TEMPORAL_TOO;

        private boolean hasWorker() {
            return this != SERVE;
        }

        private boolean hasServe() {
            return this != WORKER;
        }
    }

    static Stream<Arguments> kills() {
        return Stream.of(Killed.values())
                .flatMap(killed -> Stream.of(true, false).map(isBefore -> Arguments.of(killed, isBefore)));
    }

    /** Kills between the claim of a call and its result, before or after its effect. */
    @ParameterizedTest(name = "{0}, before the effect: {1}")
    @MethodSource("kills")
    void runningCall_killed_runsOnceAndTheTaskReportsItsStatus(Killed killed, boolean isBefore) throws Exception {
        Path started = directory.resolve("started");
        Path charged = directory.resolve("charged");
        Path end = directory.resolve("end");
        String wait = "while [ ! -e " + end + " ]; do sleep 0.1; done\n";
        Agents agents = new Agents(directory);
        agents.program(
                "charge",
                "echo started >> " + started + "\n" + (isBefore ? wait : "") + "echo charged >> " + charged + "\n"
                        + (isBefore ? "" : wait) + "echo charged");
        writeBilling(agents, "on_unknown: ask", "The program says: {{tu_1}}");
        Dev dev = open(
                killed == Killed.TEMPORAL_TOO
                        ? Dev.durableWithoutWorker(directory)
                        : Dev.inMemoryWithoutWorker(directory));
        CliWorkerProcess worker = open(worker(dev, "first"));
        ReadyProcess server = open(ReadyProcess.serve(dev.address()));
        String id =
                send(server, "tools/call", "billing", CALL).at("/result/taskId").asText();
        await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(isBefore ? started : charged));

        if (killed.hasWorker()) {
            worker.kill();
        }
        if (killed.hasServe()) {
            server.close();
        }
        if (killed == Killed.TEMPORAL_TOO) {
            dev.kill();
            dev = open(Dev.durableWithoutWorker(directory));
        }
        if (killed.hasServe()) {
            server = open(ReadyProcess.serve(dev.address()));
        }
        if (killed.hasWorker()) {
            open(worker(dev, "second"));
            String request = fillIn(server, id, "'outcome':'done','result':'receipt 17'");
            assertThat(request).startsWith("tu_1~");
        } else {
            Files.createFile(end);
        }

        assertThat(awaitTask(server, id, "completed")
                        .at("/result/content/0/text")
                        .asText())
                .isEqualTo("The program says: " + (killed.hasWorker() ? "receipt 17" : "charged"));
        assertThat(send(server, "tools/call", "billing", CALL)
                        .at("/result/taskId")
                        .asText())
                .as("the same call")
                .isEqualTo(id);
        assertThat(Files.readAllLines(started)).hasSize(1);
        assertThat(Files.exists(charged)).isEqualTo(!killed.hasWorker() || !isBefore);
        assertThat(Files.exists(charged) ? Files.readAllLines(charged) : List.of())
                .hasSizeLessThan(2);
    }

    private <T extends AutoCloseable> T open(T process) {
        open.push(process);
        return process;
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** Fills in the form of a task, and returns its key. */
    private static String fillIn(ReadyProcess server, String id, String content) throws Exception {
        JsonNode requests = awaitTask(server, id, "input_required").path("inputRequests");
        String key = requests.fieldNames().next();
        assertThat(requests.path(key).at("/params/requestedSchema/properties").toString())
                .contains(content.substring(1, content.indexOf('\'', 1)));
        JsonNode answer = send(
                server,
                "tasks/update",
                id,
                "'taskId':'" + id + "','inputResponses':{'" + key + "':{'action':'accept','content':{" + content
                        + "}}},'_meta':{" + META + "}");
        assertThat(answer.has("result")).as(answer.toString()).isTrue();
        await().atMost(Duration.ofSeconds(60))
                .until(() -> !send(server, "tasks/get", id, "'taskId':'" + id + "','_meta':{" + META + "}")
                        .at("/result/inputRequests")
                        .has(key));
        return key;
    }

    /** An agent that charges a card, and then says this. */
    private static void writeBilling(Agents agents, String setting, String reply) throws IOException {
        agents.agent("billing", """
                tools:
                  - name: charge_card
                    description: Charges
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["./charge"]
                    %s
                """.formatted(setting), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                  - text: "%s"
                """.formatted(reply));
    }
}
