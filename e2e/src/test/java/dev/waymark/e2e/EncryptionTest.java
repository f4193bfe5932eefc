package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.connect.Connection;
import dev.waymark.e2e.product.Agents;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Encrypted threads as seen from outside: by commands with and without the right keys, in the history that the server
 * stores, and through the codec server.
 */
@Tag("full")
@Timeout(300)
class EncryptionTest {
    private static final String OLD = "2026a:" + key(7);
    private static final String NEW = "2026b:" + key(8);
    private static final String CANARY = "canary-4711";

    @TempDir
    Path directory;

    private Dev dev;
    private Command waymark;

    @BeforeEach
    void start() {
        Agents agents = new Agents(directory)
                .agent("teller", "instructions: Say " + CANARY + ".\ntools: [{ use: ask_user }]", """
                        replies:
                          - text: One thing first, %1$s.
                            tool_calls: [{ id: tu_1, name: ask_user, input: { question: "Which day, %1$s?" } }]
                          - text: Booked, %1$s.
                        """.formatted(
                                CANARY));
        dev = Dev.inMemory(agents.directory(), Map.of("WAYMARK_CODEC_KEYS", OLD));
        waymark = Command.warmAt(dev.address()).with("WAYMARK_CODEC_KEYS", OLD);
    }

    @AfterEach
    void stop() {
        if (dev != null) { // It is null if nothing is built and the tests are skipped.
            dev.close();
        }
    }

    @Test
    void history_withoutKeys_isUnreadable() throws Exception {
        Command.Done asked =
                waymark.run("run", "--agent", "teller", "--thread", "trip", "--volatile", "--json", "Book, " + CANARY);
        assertThat(asked.json().path("question").asText()).isEqualTo("Which day, " + CANARY + "?");
        Command.Done booked = waymark.run("answer", "trip", "Friday, " + CANARY, "--json");
        assertThat(booked.json().path("text").asText()).isEqualTo("Booked, " + CANARY + ".");
        assertThat(waymark.run("verify", "trip").out()).startsWith("agrees");
        assertThat(waymark.run("checkpoint", "trip").out()).contains("Friday, " + CANARY);

        try (Connection plain = Connection.to(dev.address())) {
            String history = plain.client().fetchHistory("trip").getEvents().stream()
                    .map(event -> new String(event.toByteArray(), StandardCharsets.ISO_8859_1))
                    .collect(Collectors.joining());
            assertThat(history).contains("binary/encrypted", "2026a").doesNotContain(CANARY, "Which day", "Friday");
        }
    }

    @Test
    void thread_withoutTheRightKey_isRefusedInOneLine() {
        waymark.run("run", "--agent", "teller", "--thread", "trip", "--volatile", "Book");

        Command.Done wrong = Command.at(dev.address())
                .with("WAYMARK_CODEC_KEYS", "2026a:" + key(9))
                .run("show", "trip");
        Command.Done other =
                Command.at(dev.address()).with("WAYMARK_CODEC_KEYS", NEW).run("show", "trip", "--json");
        Command.Done none = Command.at(dev.address()).run("show", "trip");

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err().lines()).singleElement().asString().contains("its key \"2026a\" is a different one");
        assertThat(other.exitCode()).isEqualTo(2);
        assertThat(other.json().path("error").path("type").asText()).isEqualTo("KeyProblem");
        assertThat(other.err()).contains("there is no key \"2026a\" in WAYMARK_CODEC_KEYS");
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err().lines()).singleElement().asString().contains("encrypted", "WAYMARK_CODEC_KEYS");
        assertThat(wrong.out() + none.out()).isEmpty();
    }

    @Test
    void thread_startedWithoutKeys_isRefusedOnceAWorkerEncrypts() {
        Command keyless = Command.warmAt(dev.address());
        keyless.run("run", "--agent", "teller", "--thread", "trip", "--volatile", "--no-wait", "Book");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> waymark.run("pending").out().contains("Which day"));

        for (String[] command : new String[][] {{"show", "trip"}, {"sessions"}, {"answer", "trip", "Friday"}}) {
            Command.Done done = keyless.run(command);

            assertThat(done.exitCode()).isEqualTo(2);
            assertThat(done.err().lines()).singleElement().asString().contains("encrypted", "WAYMARK_CODEC_KEYS");
        }
    }

    @Test
    void list_threadWithOtherKeys_showsAllOthers() {
        waymark.run("run", "--agent", "teller", "--thread", "trip", "--volatile", "Book");
        Command keyless = Command.warmAt(dev.address());
        keyless.with("WAYMARK_TASK_QUEUE", "of-nobody")
                .run("run", "--agent", "teller", "--thread", "plain", "--volatile", "--no-wait", "Book");

        Command.Done sessions = keyless.run("sessions", "--json");

        assertThat(sessions.exitCode()).isZero();
        assertThat(sessions.json().findValuesAsText("thread")).containsExactly("plain");
        assertThat(sessions.err().lines())
                .singleElement()
                .asString()
                .startsWith("waymark: a thread cannot be read and is not listed: trip: the thread is encrypted");
    }

    @Test
    void unusableKeys_stopEveryCommand() {
        for (String command : new String[] {"sessions", "agents"}) {
            Command.Done done =
                    waymark.with("WAYMARK_CODEC_KEYS", "just-a-password").run(command);

            assertThat(done.exitCode()).isEqualTo(2);
            assertThat(done.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith("waymark: key 1 in WAYMARK_CODEC_KEYS has no id")
                    .doesNotContain("password");
        }
    }

    @Test
    void codecServer_decodesOnlyWithTheToken() throws Exception {
        waymark.run("run", "--agent", "teller", "--thread", "trip", "--volatile", "Book, " + CANARY);
        String encrypted;
        try (Connection plain = Connection.to(dev.address())) {
            Payloads input = plain.client()
                    .fetchHistory("trip")
                    .getEvents()
                    .get(0)
                    .getWorkflowExecutionStartedEventAttributes()
                    .getInput();
            encrypted = com.google.protobuf.util.JsonFormat.printer().print(input);
        }
        try (ReadyProcess codec = ReadyProcess.start(
                ScriptFile.command("codec", "--port", "0", "--ui-origin", "http://127.0.0.1:8233", "--json")
                        .environment(Map.of("WAYMARK_CODEC_KEYS", OLD, "WAYMARK_CODEC_TOKEN", "token-1"))
                        .showingErrors())) {
            String address = codec.address();

            assertThat(post(address, encrypted).statusCode()).isEqualTo(401);
            assertThat(post(address, encrypted, "Authorization", "Bearer token-2")
                            .statusCode())
                    .isEqualTo(401);
            HttpResponse<String> foreign =
                    post(address, encrypted, "Authorization", "Bearer token-1", "Origin", "https://evil.example");
            assertThat(foreign.statusCode()).isEqualTo(403);
            HttpResponse<String> decoded =
                    post(address, encrypted, "Authorization", "Bearer token-1", "Origin", "http://127.0.0.1:8233");
            assertThat(decoded.headers().firstValue("Access-Control-Allow-Origin"))
                    .contains("http://127.0.0.1:8233");
            JsonNode payload =
                    new JsonMapper().readTree(decoded.body()).path("payloads").path(0);
            assertThat(new String(payload.path("data").binaryValue(), StandardCharsets.UTF_8))
                    .contains("Book, " + CANARY);

            assertThat(send(address + "/", "token=token-2").statusCode()).isEqualTo(401);
            String cookie = send(address + "/", "token=token-1")
                    .headers()
                    .firstValue("Set-Cookie")
                    .orElseThrow();
            assertThat(cookie).contains("HttpOnly", "SameSite=Strict").doesNotContain("token-1");
            String session = cookie.substring(0, cookie.indexOf(';'));
            assertThat(post(address, encrypted, "Cookie", session).statusCode())
                    .as("only pages use cookies, and browsers name the page's origin")
                    .isEqualTo(401);
            assertThat(post(address, encrypted, "Cookie", session, "Origin", "http://127.0.0.1:8233")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(codec.process().terminate(Duration.ofMinutes(1))).isZero();
        }
    }

    private static HttpResponse<String> post(String address, String body, String... headers)
            throws IOException, InterruptedException {
        return send(address + "/decode", body, headers);
    }

    private static HttpResponse<String> send(String address, String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String key(int fill) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) fill);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
