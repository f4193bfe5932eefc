package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.EchoService;
import dev.waymark.e2e.product.Watching;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.model.ModelAnswer;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.sdk.v1.WorkflowMetadata;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Gives secrets to a worker whose model service, HTTP services, MCP servers and programs repeat every secret in all of
 * their output. The test then searches everything that is visible of the worker's threads for these secrets. A
 * placeholder shows that a secret was repeated in a place, and a word from a person's message shows that the search
 * would have found a secret.
 */
@Timeout(400)
@Tag("server")
@Tag("full")
class SecretLeaksServerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    /** A part of every secret and of nothing else. */
    private static final String CANARY = "canary";

    private static final List<String> FORMATS =
            List.of("runner", "thread", "phases", "messages", "session", "versions");

    private static final String WITNESS = "witness-4711";

    private final ModelServer anthropic = new AnthropicServer();
    private final EchoService service = EchoService.start();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final Map<String, String> seen = new LinkedHashMap<>();

    @TempDir
    Path directory;

    private Dev server;
    private CliWorkerProcess worker;
    private Command waymark;

    @BeforeEach
    void start() throws IOException {
        program("program.sh", """
                case $1 in
                    says) printf '%s and ' "$TOKEN"; cat ;;
                    fails) echo "no: $TOKEN" >&2; exit 1 ;;
                    asks) printf '{"question":"May I use %s?"}' "$WORD"; exit 10 ;;
                    hangs) echo "waiting with $TOKEN" >&2; exec sleep 60 ;;
                    verifies) printf '{"landed":true,"result":"paid with %s"}' "$WORD" ;;
                    env) env ;;
                esac
                """);
        program("mcp.sh", """
                echo "starting with $TOKEN" >&2
                while read -r line; do
                    id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
                    head='{"jsonrpc":"2.0","id":'$id
                    case $line in
                        *'"initialize"'*) echo "$head,\\"result\\":{\\"protocolVersion\\":\\"2025-06-18\\"}}" ;;
                        *'"tools/list"'*)
                            tools=
                            for name in says refuses dies; do
                                tools="$tools{\\"name\\":\\"$name\\",\\"description\\":\\"For $TOKEN\\",\\"inputSchema\\":{\\"type\\":\\"object\\"}},"
                            done
                            echo "$head,\\"result\\":{\\"tools\\":[${tools%,}]}}" ;;
                        *'"says"'*)
                            echo "$head,\\"result\\":{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"said $TOKEN\\"}]}}" ;;
                        *'"refuses"'*) echo "$head,\\"error\\":{\\"code\\":-32000,\\"message\\":\\"not for $TOKEN\\"}}" ;;
                        *'"dies"'*) echo "out of luck with $TOKEN" >&2; exit 3 ;;
                    esac
                done
                """);
        Files.writeString(directory.resolve("logback.xml"), """
                <configuration>
                    <appender name="stderr" class="ch.qos.logback.core.ConsoleAppender">
                        <target>System.err</target>
                        <encoder><pattern>%level %logger %msg %ex{full}%n</pattern></encoder>
                    </appender>
                    <logger name="dev.waymark" level="TRACE"/>
                    <logger name="io.temporal" level="DEBUG"/>
                    <root level="INFO"><appender-ref ref="stderr"/></root>
                </configuration>
                """);
        Files.writeString(
                directory.resolve("leaky.yaml"),
                """
                model: anthropic:some-model
                instructions: Never say ${INSTRUCTED}.
                tools:
                  - { name: program_says, command: [./program.sh, says], env: { TOKEN: "${PROGRAM}" } }
                  - { name: program_fails, command: [./program.sh, fails], env: { TOKEN: "${PROGRAM}" } }
                  - { name: program_asks, command: [./program.sh, asks], env: { WORD: "${WORD}" } }
                  - { name: program_env, command: [./program.sh, env] }
                  - { name: program_hangs, command: [./program.sh, hangs], env: { TOKEN: "${PROGRAM}" }, timeout: 2s }
                  - name: program_verifies
                    command: [./program.sh, hangs]
                    verify: [./program.sh, verifies]
                    env: { TOKEN: "${PROGRAM}", WORD: "${WORD}" }
                    timeout: 2s
                """
                        + List.of("says", "fails", "leads", "breaks").stream()
                                .map(this::httpTool)
                                .collect(Collectors.joining())
                        + """
                  - mcp: { name: local, command: [./mcp.sh], env: { TOKEN: "${LOCAL}" } }
                  - mcp: { name: remote, url: "%s/mcp", headers: { Authorization: "Bearer ${REMOTE}" } }
                """.formatted(service.address()));
        Files.writeString(directory.resolve("broken.yaml"), """
                model: anthropic:some-model
                tools:
                  - mcp: { name: broken, command: [/bin/sh, -c, "echo no use for $TOKEN >&2; exit 7"], env: { TOKEN: "${LOCAL}" } }
                """);
        server = Dev.durableWithoutWorker(directory);
        waymark = Command.warmAt(server.address());
        environment.putAll(anthropic.environment());
        environment.put("OPENAI_API_KEY", "canary-openai-22");
        environment.put("INSTRUCTED", "canary-instructed-33");
        environment.put("PROGRAM", "canary-program\n-----canary-line-2/44-----\n");
        environment.put("WORD", "canary-word-45");
        environment.put("HTTP", "canary-http/55\"\\");
        environment.put("ADDRESS", "canary-address-66");
        environment.put("LOCAL", "canary-local-77");
        environment.put("REMOTE", "canary-remote/88\n");
        environment.put("NOT_MENTIONED", "canary-not-mentioned-99");
        environment.put("JAVA_TOOL_OPTIONS", "-Dlogback.configurationFile=" + directory.resolve("logback.xml"));
        worker = CliWorkerProcess.start(server.address(), directory, environment, directory.resolve("worker.log"));
    }

    private String httpTool(String how) {
        return """
                  - name: http_%1$s
                    input: { type: object, properties: { q: { type: string } } }
                    http:
                      method: POST
                      url: "%2$s/%1$s/{q}?key=${ADDRESS}"
                      headers: { Authorization: "Bearer ${HTTP}" }
                      allow_private: true
                """.formatted(how, service.address());
    }

    private void program(String file, String commands) throws IOException {
        Path program = Files.writeString(directory.resolve(file), "#!/bin/sh\n" + commands);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void stop() {
        if (worker != null) {
            worker.close();
        }
        if (server != null) {
            server.close();
        }
        service.close();
        anthropic.close();
    }

    @Test
    void secrets_repeatedByEveryService_areVisibleNowhere() throws Exception {
        String key = ModelServer.KEY;
        String quoted = "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down, " + key + "\"}}";
        anthropic.answers(
                ModelAnswer.error(429, quoted).with("Retry-After-Ms", "20").with("X-Key", key),
                ModelAnswer.error(529, "<p>" + key + "</p>"),
                calls(ModelAnswer.says(WITNESS + " Your key is " + key.substring(0, 5), key.substring(5))),
                ModelAnswer.says().calls("tu_90", "local_dies", "{}").calls("tu_91", "remote_fails", "{}"),
                ModelAnswer.says("Once more: " + key.substring(0, 9), key.substring(9), ".", " Bye.")
                        .silentAfter(3));

        waymark("run", "--agent", "leaky", "--thread", "leaky", "--volatile", "--no-wait", "Say " + WITNESS);
        try (Watching watching = Watching.start(server.address(), "leaky");
                Connection connection = Connection.to(server.address())) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    waymark.run("show", "leaky", "--json").out())
                            .contains("\"question\":\"May I use ${WORD}"));
            look(connection, "waiting", "leaky");
            waymark("pending", "--json");
            connection.client().newUntypedWorkflowStub("leaky").signal(SignalNames.ANSWER, "Yes, " + WITNESS);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(told(watching)).endsWith("Once more: [key]."));
            // Heartbeats, whose details the server describes, follow the words within a second or so.
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(described(connection, "leaky")).contains("Once more: [key]."));
            look(connection, "speaking", "leaky");
            anthropic.goOn();
            assertThat(waymark("result", "leaky")).endsWith("Once more: [key]. Bye.\n");
            await().atMost(PATIENCE).until(() -> watching.lines("model-replied").size() == 3);
            look(connection, "over", "leaky");
            ask();
            see("watch", watching.lines() + watching.complaints());

            anthropic.answers(ModelAnswer.error(401, quoted));
            look(connection, "refused", run("refused", "leaky"));
            look(connection, "broken", run("broken", "broken"));
        }
        Command given = waymark;
        for (Map.Entry<String, String> variable : environment.entrySet()) {
            given = given.with(variable.getKey(), variable.getValue());
        }
        Command.Done tools = given.run("tools", "leaky", "--json", "--agents", directory.toString());
        see("tools", tools.out() + tools.err());
        see("log", Files.readString(worker.log()));

        // The services received the secrets that were meant for them.
        assertThat(String.join("\n", service.received()))
                .contains("Bearer canary-http/55\"\\", "?key=canary-address-66", "Bearer canary-remote/88");
        // Each secret was repeated, and the word that is not a secret is visible.
        String history = seen.get("history, over");
        assertThat(history)
                .contains(WITNESS, "Your key is [key]", "Once more: [key].")
                .contains("${PROGRAM}\\n and ", "no: ${PROGRAM}", "May I use ${WORD}", "waiting with ${PROGRAM}")
                .contains("paid with ${WORD}", "?key=${ADDRESS} Bearer ${HTTP}", "http://elsewhere.example/leads/")
                .contains("said ${LOCAL}", "not for ${LOCAL}", "out of luck with ${LOCAL}", "For ${LOCAL}")
                .contains("said Bearer ${REMOTE}", "not for Bearer ${REMOTE}", "HTTP 500: no: Bearer ${REMOTE}")
                .contains("WAYMARK_CALL_ID=tu_4", "Never say ${INSTRUCTED}.");
        // A reference that the model wrote is plain text and is not resolved.
        assertThat(service.received()).anyMatch(request -> request.startsWith("POST /says/%24%7BHTTP%7D?"));
        for (String format : FORMATS) {
            assertThat(seen.get("checkpoint leaky --format " + format)).contains(WITNESS, "[key]", "${PROGRAM}");
        }
        for (String place : List.of("show leaky", "show leaky --json", "watch")) {
            assertThat(seen.get(place)).as(place).contains(WITNESS, "[key]");
        }
        // The card is Markdown.
        assertThat(seen.get("card, over")).contains(WITNESS, "\\[key\\]");
        assertThat(seen.get("description, speaking")).contains("Once more: [key].");
        for (String place : List.of("refused", "history, refused")) {
            assertThat(seen.get(place)).as(place).contains("slow down, [key]");
        }
        for (String place : List.of("broken", "history, broken")) {
            assertThat(seen.get(place)).as(place).contains("no use for ${LOCAL}");
        }
        assertThat(seen.get("tools")).contains("For ${LOCAL}", "For Bearer ${REMOTE}");
        assertThat(seen.get("log"))
                .contains("slow down, [key]", "<p>[key]</p>", "starting with ${LOCAL}", "no use for ${LOCAL}");
        // No secret is visible in any place.
        seen.forEach((place, text) -> assertThat(text).as(place).doesNotContain(CANARY));
    }

    private static String told(Watching watching) {
        return watching.lines("text-delta").stream()
                .map(line -> line.path("text").asText())
                .collect(Collectors.joining());
    }

    private static ModelAnswer calls(ModelAnswer.Speech speech) {
        String literal = "{\"q\": \"${HTTP}\", \"text\": \"${PROGRAM} " + WITNESS + "\"}";
        List<String> tools = List.of(
                "program_says",
                "program_fails",
                "program_asks",
                "program_env",
                "program_hangs",
                "program_verifies",
                "http_says",
                "http_fails",
                "http_leads",
                "http_breaks",
                "local_says",
                "local_refuses",
                "remote_says",
                "remote_refuses");
        ModelAnswer.Speech all = speech;
        for (int i = 0; i < tools.size(); i++) {
            all = all.calls("tu_" + (i + 1), tools.get(i), literal);
        }
        return all.calls("tu_20", "program_says", "{\"text\": \"" + ModelServer.KEY + "\"}");
    }

    private String waymark(String... arguments) {
        Command.Done done = waymark.run(arguments);
        see(String.join(" ", arguments), done.out() + done.err());
        return done.out();
    }

    /** Runs the agent and returns the id of its thread. */
    private String run(String place, String agent) {
        Command.Done done = waymark.run("run", "--agent", agent, "Hi", "--json", "--verbose");
        see(place, done.out() + done.err());
        return done.json().path("thread").asText();
    }

    private void see(String place, String text) {
        seen.put(place, text);
    }

    /** Records the output of commands about the thread. */
    private void ask() {
        for (String format : FORMATS) {
            waymark("checkpoint", "leaky", "--format", format);
        }
        for (String command : List.of("show", "calls", "checkpoints")) {
            waymark(command, "leaky");
            waymark(command, "leaky", "--json");
        }
        waymark("sessions", "--json");
    }

    /** Records everything that the server currently returns about a thread. */
    private void look(Connection connection, String when, String id) {
        WorkflowStub thread = connection.client().newUntypedWorkflowStub(id);
        WorkflowExecutionHistory history = connection.client().fetchHistory(id);
        see(
                "history, " + when,
                history.getEvents().stream()
                        .map(event -> text(event.toByteArray()))
                        .collect(Collectors.joining("\n")));
        see("history as JSON, " + when, history.toJson(true));
        for (String query : List.of(
                WireNames.STATUS_QUERY,
                WireNames.PENDING_QUERY,
                WireNames.CALLS_QUERY,
                WireNames.CHECKPOINT_QUERY,
                WireNames.STATE_QUERY)) {
            see("query " + query + ", " + when, String.valueOf(thread.query(query, Object.class)));
        }
        see(
                "card, " + when,
                thread.query("__temporal_workflow_metadata", WorkflowMetadata.class)
                        .getCurrentDetails());
        see("description, " + when, described(connection, id));
    }

    /** Returns the server's description of the thread, with the heartbeat details of running activities. */
    private static String described(Connection connection, String id) {
        return text(connection
                .stubs()
                .blockingStub()
                .describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(WorkflowExecution.newBuilder().setWorkflowId(id))
                        .build())
                .toByteArray());
    }

    /** Decodes a message so that a canary in a payload is found: payloads are JSON, and canaries are ASCII. */
    private static String text(byte[] protobuf) {
        return new String(protobuf, StandardCharsets.ISO_8859_1);
    }
}
