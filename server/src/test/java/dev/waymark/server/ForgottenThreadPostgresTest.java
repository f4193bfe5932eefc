package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.Connection;
import dev.waymark.fixtures.process.PostgresServer;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverTarget;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.HttpSettings;
import io.temporal.api.history.v1.HistoryEvent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Forgets a thread whose history, key and saved checkpoints are all in PostgreSQL, on a deployed Temporal server. */
@Tag("full")
@Tag("server")
@Timeout(400)
class ForgottenThreadPostgresTest {
    private static final String CANARY = "canary-";
    private static final List<String> TEMPORAL = List.of("temporal", "temporal_visibility");
    private static final String SAVED = "saved";

    private TemporalOnPostgres temporal;
    private PostgresServer postgres;
    private EncryptedThreads threads;

    @BeforeEach
    void start() throws Exception {
        temporal = TemporalOnPostgres.start();
        postgres = temporal.postgres();
        threads = new EncryptedThreads(temporal.directory(), temporal.address(), postgres);
        postgres.createDatabase(SAVED);
        threads.program("look-up.sh", "cat >/dev/null; echo canary-log >&2; echo found canary-result");
        threads.agent("boss", """
                instructions: Say canary-instructions.
                subagents: [clerk]
                tools:
                  - use: ask_user
                  - { name: look_up, command: [./look-up.sh] }
                """, """
                replies:
                  - tool_calls: [{ id: tu_1, name: look_up, input: { word: canary-argument } }]
                  - tool_calls: [{ id: tu_2, name: clerk, input: { task: canary-task } }]
                  - tool_calls: [{ id: tu_3, name: ask_user, input: { question: "canary-question?" } }]
                  - text: Booked canary-reply.
                """);
        threads.agent("clerk", "description: Looks things up", "replies: [{ text: canary-subagent }]");
    }

    @AfterEach
    void stop() throws Exception {
        if (threads != null) {
            threads.close();
        }
        if (temporal != null) {
            temporal.close();
        }
    }

    @Test
    void forgottenThread_cannotBeRead_evenFromARestoredBackup() throws Exception {
        threads.startWorker("worker");
        AgentClient client = threads.client();
        for (String thread : List.of("trip", "kept")) {
            converse(client, thread);
        }
        CheckpointSaver saver = SaverTarget.parse(postgres.url(SAVED, "any")).open();
        client.saved().saveOnce("trip", SaveOptions.in(saver), false);
        assertThat(client.timeline("trip").now().transcript().messages().toString())
                .contains("canary-result");
        assertThat(threads.history("trip").payloadTexts()).anyMatch(text -> text.contains("canary-result"));
        assertThat(plainTextIsFound()).isTrue();
        List<Path> backups = List.of(postgres.backUp(TEMPORAL.get(0)), postgres.backUp(TEMPORAL.get(1)));
        String sealed = sealedKey("trip");

        client.forget("trip", true);

        assertRefused(client);
        assertNothingIsStored(sealed);
        assertThat(postgres.dump(SAVED)).contains("canary-result"); // Checkpoints are not encrypted, as documented.
        saver.delete("trip");
        saver.close();
        assertThat(postgres.dump(SAVED)).doesNotContain(CANARY);

        temporal.stopTemporal();
        for (int i = 0; i < backups.size(); i++) {
            postgres.dropDatabase(TEMPORAL.get(i));
            postgres.restore(TEMPORAL.get(i), backups.get(i));
        }
        temporal.startTemporal();

        AgentClient other = threads.client();
        assertThat(stored("trip")).hasSizeGreaterThan(20);
        assertRefused(other);
        assertNothingIsStored(sealed);
        assertThat(other.timeline("kept").now().transcript().messages().toString())
                .contains("canary-result", "canary-subagent", "canary-reply");
        assertThat(other.say("kept", "And canary-again").await().status()).isEqualTo("complete");
        assertThat(temporal.logs()).doesNotContain(CANARY, EncryptedThreads.MASTER_KEY, EncryptedThreads.PASSWORD);
    }

    /** Runs a conversation with a canary word in each of its parts. */
    private static void converse(AgentClient client, String thread) {
        AgentResult asked = client.run(Prompt.of("boss", "Book canary-prompt")
                        .withThread(thread)
                        .withId("m-1"))
                .await();
        assertThat(asked.status()).isEqualTo("interrupted");
        AgentResult done = client.answer(thread, "canary-answer").await();
        assertThat(AgentResult.assertComplete(done).text()).isEqualTo("Booked canary-reply.");
    }

    /** Whether a dump shows the plain text of a thread without keys. If not, the test would prove nothing. */
    private boolean plainTextIsFound() throws Exception {
        try (Connection plain = Connection.to(temporal.address());
                AgentClient client = AgentClient.on(plain, EncryptedThreads.queue())) {
            client.start(Prompt.of("nobody", "Look for needle-4711").withThread("plain"));
            return has(postgres.dump(TEMPORAL.get(0)), "needle-4711");
        }
    }

    /** Whether a dump contains these words, as text or as bytes, which PostgreSQL writes as hexadecimal digits. */
    private static boolean has(String dump, String words) {
        return dump.contains(words) || dump.contains(HexFormat.of().formatHex(words.getBytes(StandardCharsets.UTF_8)));
    }

    private String sealedKey(String thread) throws Exception {
        String row = postgres.dump(EncryptedThreads.DATABASE)
                .lines()
                .filter(line -> line.contains("\"" + thread + "\""))
                .findFirst()
                .orElseThrow();
        String sealed = row.replaceFirst(".*\"sealed\":\"([^\"]+)\".*", "$1");
        assertThat(sealed).isNotEqualTo(row);
        return sealed;
    }

    private void assertRefused(AgentClient client) throws Exception {
        List<ThrowingCallable> reads = List.of(
                () -> client.timeline("trip"),
                () -> client.timeline("trip/tu_2"),
                () -> client.status("trip"),
                () -> client.pending("trip"),
                () -> client.turn("trip").await(),
                () -> client.inspector().verify("trip"),
                () -> client.say("trip", "Hello").await(),
                () -> client.resume("trip", ResumeOptions.onward()).await(),
                () -> client.fork("trip", ForkOptions.into("copy")).await());
        for (ThrowingCallable read : reads) {
            assertThatThrownBy(read)
                    .isInstanceOf(WaymarkException.Forgotten.class)
                    .hasMessageStartingWith("thread trip was forgotten on ")
                    .hasMessageNotContaining(CANARY);
        }
        assertThatThrownBy(() -> threads.history("trip"))
                .isInstanceOf(ThreadForgottenException.class)
                .hasMessageStartingWith("thread trip was forgotten on ")
                .hasMessageNotContaining(CANARY);
        try (ApiServer server = ApiServer.start(
                client, HttpSettings.at("127.0.0.1", 0), new AgentCatalog(Optional.empty()), Optional.empty())) {
            HttpCaller caller = HttpCaller.of(server, "none").asNobody();
            for (String read : List.of("", "/messages", "/conversation", "/versions", "/calls", "/checkpoint")) {
                HttpCaller.Answer answer = caller.get("/v1/threads/trip" + read);
                assertThat(answer.status()).as(read).isEqualTo(410);
                assertThat(answer.response().body()).as(read).doesNotContain(CANARY);
            }
        }
    }

    private void assertNothingIsStored(String sealed) throws Exception {
        for (String database : List.of(TEMPORAL.get(0), TEMPORAL.get(1), EncryptedThreads.DATABASE)) {
            String dump = postgres.dump(database);
            assertThat(has(dump, "trip")).as("the dump of " + database).isTrue();
            assertThat(has(dump, CANARY)).as(database).isFalse();
            for (String secret : List.of(EncryptedThreads.MASTER_KEY, EncryptedThreads.PASSWORD, sealed)) {
                assertThat(has(dump, secret)).as(database).isFalse();
            }
        }
    }

    /** The events as a client without keys reads them, which must be encrypted. */
    private List<HistoryEvent> stored(String thread) throws Exception {
        try (Connection plain = Connection.to(temporal.address())) {
            List<HistoryEvent> events = plain.client().fetchHistory(thread).getEvents();
            assertThat(events.toString()).contains("binary/encrypted").doesNotContain(CANARY);
            return events;
        }
    }
}
