package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.protobuf.util.JsonFormat;
import dev.waymark.connect.Connection;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.e2e.product.ScriptFile;
import io.temporal.api.common.v1.Payloads;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads with their own encryption keys, on a real server. */
@Tag("full")
@Timeout(400)
class ThreadKeysServerTest {
    private static final String OLD = "2026a:" + key(7);
    private static final String NEW = "2026b:" + key(8);
    private static final String CANARY = "canary-4711";
    private static final Duration OUTAGE = Duration.ofSeconds(15);
    private static final String FORGOTTEN = "waymark: thread trip was forgotten on %s: its key is destroyed";

    @TempDir
    Path directory;

    private Path keys;
    private Agents agents;
    private Dev server;

    @BeforeEach
    void start() throws IOException {
        keys = Files.createDirectory(directory.resolve("keys"));
        Path own = Files.createDirectory(directory.resolve("agents"));
        agents = new Agents(own)
                .agent(
                        "boss",
                        "instructions: Say " + CANARY + ".\nsubagents: [clerk]\ntools: [{ use: ask_user }]",
                        """
                        replies:
                          - text: One thing first, %1$s.
                            tool_calls: [{ id: tu_7, name: clerk, input: { task: "Look up %1$s" } }]
                          - text: And another, %1$s.
                            tool_calls: [{ id: tu_8, name: ask_user, input: { question: "Which day, %1$s?" } }]
                          - text: Booked, %1$s.
                        """.formatted(CANARY))
                .agent("clerk", "description: Looks things up", "replies: [{ text: \"Found " + CANARY + ".\" }]");
        server = Dev.durableWithoutWorker(own);
    }

    @AfterEach
    void stop() {
        if (server != null) { // It is null if nothing is built and the tests are skipped.
            server.close();
        }
    }

    private Map<String, String> environment(String masterKeys) {
        return Map.of("WAYMARK_CODEC_KEYS", masterKeys, "WAYMARK_THREAD_KEYS", "file:" + keys);
    }

    private CliWorkerProcess worker(String masterKeys) {
        return CliWorkerProcess.start(
                server.address(), agents.directory(), environment(masterKeys), directory.resolve("worker.log"));
    }

    private Command waymark(String masterKeys) {
        Command command = Command.warmAt(server.address());
        for (Map.Entry<String, String> variable : environment(masterKeys).entrySet()) {
            command = command.with(variable.getKey(), variable.getValue());
        }
        return command;
    }

    @Test
    void forgottenThread_isUnreadableAndItsNameIsFree() throws Exception {
        Command waymark = waymark(OLD);
        try (CliWorkerProcess worker = worker(OLD)) {
            waymark.run("run", "--agent", "boss", "--thread", "trip", "Book, " + CANARY);
            assertThat(waymark.run("show", "trip").out()).contains("Found " + CANARY);
            assertThat(waymark.run("fork", "trip", "--thread", "copy").exitCode())
                    .isZero();

            Command.Done open = waymark.run("forget", "trip");
            assertThat(open.exitCode()).isEqualTo(2);
            assertThat(open.err()).contains("the thread is still open: trip");

            Command.Done done = waymark.run("forget", "trip", "--terminate", "--json");
            assertThat(done.exitCode()).isZero();
            assertThat(done.json().path("copies").path(0).asText()).isEqualTo("copy");

            String line = FORGOTTEN.formatted(LocalDate.now(ZoneOffset.UTC));
            for (String reader : List.of(
                    "show trip",
                    "show trip/tu_7",
                    "pending trip",
                    "calls trip",
                    "checkpoint trip",
                    "checkpoints trip",
                    "verify trip",
                    "result trip",
                    "watch trip",
                    "say trip Hello",
                    "answer trip Friday",
                    "resume trip --answer Friday",
                    "fork trip --thread another",
                    "save trip --to file:" + directory.resolve("saved"),
                    "trace trip --to http://127.0.0.1:1/v1/traces",
                    "export trip --decrypt")) {
                Command.Done refused = waymark.run(reader.split(" "));
                assertThat(refused.exitCode()).as(reader).isEqualTo(3);
                assertThat(refused.err().lines()).as(reader).containsExactly(line);
                assertThat(refused.out()).as(reader).isEmpty();
            }
            Command.Done sessions = waymark.run("sessions", "--json");
            assertThat(sessions.exitCode()).isZero();
            assertThat(names(sessions.json())).containsExactly("copy");
            assertThat(waymark.run("pending", "--json").json().findValuesAsText("thread"))
                    .containsExactly("copy");
            assertThat(waymark.run("show", "copy").out()).contains(CANARY);
            assertOverHttp();
            assertDecoded();

            assertThat(waymark.run("run", "--agent", "boss", "--thread", "trip", "Again, " + CANARY)
                            .exitCode())
                    .isZero();
            assertThat(waymark.run("show", "trip").out()).contains("Again, " + CANARY);
            assertThat(Files.readString(worker.log())).doesNotContain(CANARY, key(7));
        }
        assertNoCanary();
    }

    /** The listed threads. A fork also names the thread that it copied. */
    private static List<String> names(JsonNode threads) {
        return threads.valueStream()
                .map(thread -> thread.path("thread").asText())
                .toList();
    }

    private void assertOverHttp() throws Exception {
        try (ReadyProcess process = started("serve", "--no-auth", "--port", "0", "--json")) {
            String threads = process.address() + "/v1/threads";

            for (String read : List.of(
                    "",
                    "/messages",
                    "/conversation",
                    "/pending",
                    "/calls",
                    "/versions",
                    "/result",
                    "/checkpoint",
                    "/events")) {
                assertGone(read, send(threads + "/trip" + read, "GET", ""));
            }
            for (Map.Entry<String, String> command : Map.ofEntries(
                            Map.entry("say", "{\"message\": \"Hello\"}"),
                            Map.entry("answer", "{\"callId\": \"tu_8\", \"answer\": \"Friday\"}"),
                            Map.entry("approve", "{\"callId\": \"tu_8\", \"argsDigest\": \"00\"}"),
                            Map.entry("deny", "{\"callId\": \"tu_8\", \"argsDigest\": \"00\"}"),
                            Map.entry("settle", "{\"callId\": \"tu_8\", \"outcome\": \"done\"}"),
                            Map.entry("budget", "{\"iterations\": 5}"),
                            Map.entry("stop", "{}"),
                            Map.entry("close", "{}"),
                            Map.entry("cancel", "{}"),
                            Map.entry("fork", "{}"),
                            Map.entry("resume", "{\"answer\": \"Friday\"}"))
                    .entrySet()) {
                assertGone(command.getKey(), send(threads + "/trip/" + command.getKey(), "POST", command.getValue()));
            }
            HttpResponse<String> list = send(threads, "GET", "");
            assertThat(list.statusCode()).isEqualTo(200);
            assertThat(names(new JsonMapper().readTree(list.body()).path("threads")))
                    .containsExactly("copy");
            assertThat(send(threads + "/copy/messages", "GET", "").body()).contains(CANARY);
        }
    }

    private static void assertGone(String request, HttpResponse<String> answer) throws IOException {
        assertThat(answer.statusCode()).as(request + " " + answer.body()).isEqualTo(410);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        JsonNode problem = new JsonMapper().readTree(answer.body());
        assertThat(problem.path("status").asInt()).isEqualTo(410);
        assertThat(problem.path("code").asText()).as(answer.body()).isEqualTo("Forgotten");
        assertThat(problem.path("detail").asText()).startsWith("thread trip was forgotten on ");
    }

    private ReadyProcess started(String... command) {
        return ReadyProcess.start(ScriptFile.command(command)
                .environment(environment(OLD))
                .environment(Map.of("TEMPORAL_ADDRESS", server.address(), "WAYMARK_CODEC_TOKEN", "token-1"))
                .showingErrors());
    }

    private static HttpResponse<String> send(String url, String method, String body)
            throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(url))
                                .header("Content-Type", "application/json")
                                .header("Authorization", "Bearer token-1")
                                .header("X-Namespace", "") // Temporal's CLI sends this header, too.
                                .header("Idempotency-Key", UUID.randomUUID().toString())
                                .method(method, HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    /**
     * Checks what the Web UI and Temporal's CLI show: the text of one thread, and a message that the other was
     * forgotten.
     */
    private void assertDecoded() throws Exception {
        Payloads.Builder both = Payloads.newBuilder();
        try (Connection plain = Connection.to(server.address())) {
            for (String thread : List.of("copy", "trip")) {
                both.addPayloads(plain.client()
                        .fetchHistory(thread)
                        .getEvents()
                        .get(0)
                        .getWorkflowExecutionStartedEventAttributes()
                        .getInput()
                        .getPayloads(0));
            }
        }
        try (ReadyProcess process = started("codec", "--port", "0", "--json")) {
            HttpResponse<String> answer = send(
                    process.address() + "/decode", "POST", JsonFormat.printer().print(both));

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            Payloads.Builder decoded = Payloads.newBuilder();
            JsonFormat.parser().merge(answer.body(), decoded);
            assertThat(decoded.getPayloads(0).getData().toStringUtf8()).contains("\"rules\"");
            assertThat(decoded.getPayloads(1).getMetadataOrThrow("encoding").toStringUtf8())
                    .isEqualTo("json/plain");
            assertThat(decoded.getPayloads(1).getData().toStringUtf8())
                    .startsWith("{\"message\":\"thread trip was forgotten on ");
        }
    }

    /** Checks that the server's answers without keys, its database and the key files contain no plain text. */
    private void assertNoCanary() throws Exception {
        try (Connection plain = Connection.to(server.address())) {
            String history = plain.client().fetchHistory("copy").getEvents().stream()
                    .map(event -> new String(event.toByteArray(), StandardCharsets.ISO_8859_1))
                    .collect(Collectors.joining());
            assertThat(history).contains("binary/encrypted", "thread:").doesNotContain(CANARY, "Which day");
        }
        try (Stream<Path> files = Stream.concat(Files.list(agents.directory()), Files.list(keys))) {
            for (Path file : files.filter(path -> !path.toString().endsWith(".yaml"))
                    .filter(Files::isRegularFile)
                    .toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(CANARY, key(7));
            }
        }
    }

    @Test
    void masterKey_canBeReplacedWhileAThreadRuns() {
        try (CliWorkerProcess worker = worker(OLD)) {
            waymark(OLD).run("run", "--agent", "boss", "--thread", "trip", "Book");
        }
        try (CliWorkerProcess worker = worker(NEW + "," + OLD)) {
            assertThat(waymark(NEW + "," + OLD).run("rewrap").out()).contains("1 changed, 1 in all");
            Command.Done answered = waymark(NEW).run("answer", "trip", "Friday");

            assertThat(answered.out()).contains("Booked, " + CANARY);
        }
        Command.Done old = waymark(OLD).run("show", "trip");
        assertThat(old.exitCode()).isEqualTo(2);
        assertThat(old.err()).contains("the key of thread trip needs the key \"2026b\"");
    }

    @Test
    void unavailableStorage_letsTasksWait() throws Exception {
        try (CliWorkerProcess worker = worker(OLD)) {
            waymark(OLD).run("run", "--agent", "boss", "--thread", "trip", "Book");
        }
        Path away = directory.resolve("away");
        Files.move(keys, away);
        try (CliWorkerProcess worker = worker(OLD)) {
            Command.Done refused = waymark(OLD).run("answer", "trip", "Friday");
            assertThat(refused.exitCode()).isEqualTo(5);
            assertThat(refused.err().lines())
                    .singleElement()
                    .asString()
                    .contains("the keys of threads are not available: there is no directory " + keys);
            Files.move(away, keys);

            assertThat(waymark(OLD).run("answer", "trip", "Friday").out()).contains("Booked, " + CANARY);
        }
    }

    /** All tasks of all threads fail meanwhile, and a worker logs one line in ten seconds about it. */
    @Test
    void unavailableStorage_doesNotFillTheLog() throws Exception {
        List<String> threads = List.of("trip-1", "trip-2", "trip-3", "trip-4");
        for (String thread : threads) {
            waymark(OLD).run("run", "--agent", "clerk", "--thread", thread, "--no-wait", "Look");
        }
        Path away = directory.resolve("away");
        Files.move(keys, away);
        try (CliWorkerProcess worker = worker(OLD)) {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> Files.readString(worker.log())
                            .contains("keys of threads are not available: there is no directory"));
            long since = System.nanoTime();
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> System.nanoTime() - since > OUTAGE.toNanos());
            Files.move(away, keys);

            for (String thread : threads) {
                assertThat(waymark(OLD).run("result", thread, "--timeout", "2m").out())
                        .contains("Found " + CANARY);
            }
            assertThat(Files.readString(worker.log())).doesNotContain("\tat ", CANARY, key(7));
            assertThat(Files.readAllLines(worker.log())).hasSizeLessThan(10);
        }
    }

    private static String key(int fill) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) fill);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
