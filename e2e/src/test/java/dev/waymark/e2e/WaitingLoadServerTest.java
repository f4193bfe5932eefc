package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.LoadReader;
import dev.waymark.client.list.ServerLoad;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.decision.PendingItem.Kind;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.PlainServer;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.AgentWorker;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much waits for people and for workers, as the client reads it and as {@code serve} exports it. */
@Tag("full")
@Tag("server")
@Timeout(300)
class WaitingLoadServerTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private static Reply reply(ModelRequest request) {
        String last = request.messages().get(request.messages().size() - 1).text();
        return last.startsWith("Ask")
                ? Reply.of(new Part.ToolUse("tu_" + last, "ask_user", Json.of(Map.of("question", "Which day?"))))
                : Reply.of(new Part.Text("Done."));
    }

    private static AgentWorker worker(Connection connection) {
        return AgentWorker.on(connection)
                .agents(AgentSpec.of("asker", "fake:model", BuiltInTools.askUser()))
                .provider("fake", WaitingLoadServerTest::reply)
                .build()
                .start();
    }

    private static void ask(AgentClient client, String thread) {
        assertThat(client.run(Prompt.of("asker", "Ask 1").withThread(thread)).await())
                .isInstanceOf(AgentResult.Interrupted.class);
    }

    private static void awaitWaiting(LoadReader loads, int questions) {
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(loads.read().waiting())
                        .isEqualTo(Map.of(Kind.QUESTION, questions, Kind.APPROVAL, 0, Kind.UNKNOWN, 0)));
    }

    /** Checks that the oldest request is the one that waits in this thread. */
    private static void assertOldest(AgentClient client, LoadReader loads, String thread) {
        Instant since = client.pending(thread).get(0).since();
        Duration least = Duration.between(since, Instant.now());

        assertThat(loads.read().oldest().orElseThrow())
                .isBetween(least, Duration.between(since, Instant.now()).plusMillis(1));
    }

    @Test
    void load_countsThreadsAndTasks_andFindsTheOldestRequest() throws Exception {
        try (PlainServer server = PlainServer.start();
                Connection ofTheWorker = server.connect();
                AgentClient client = AgentClient.connect(server.address())) {
            try (AgentClient before = AgentClient.connect(server.address())) {
                assertThat(before.load().read())
                        .isEqualTo(new ServerLoad(
                                Map.of(), Optional.empty(), ServerLoad.Backlog.NONE, ServerLoad.Backlog.NONE));
                before.lists().setUp();
            }
            LoadReader loads = client.load();
            for (String thread : List.of("early", "late")) {
                client.start(Prompt.of("asker", "Say").withThread(thread));
            }
            await().atMost(LONG)
                    .untilAsserted(() ->
                            assertThat(loads.read().workflowTasks().tasks()).isEqualTo(2));
            await().atMost(LONG)
                    .untilAsserted(
                            () -> assertThat(loads.read().workflowTasks().age()).isGreaterThan(Duration.ofSeconds(1)));

            try (AgentWorker worker = worker(ofTheWorker)) {
                // The later thread waits first.
                ask(client, "late");
                ask(client, "early");
                awaitWaiting(loads, 2);
                // The server uses its own counts for some seconds.
                await().atMost(LONG)
                        .untilAsserted(() ->
                                assertThat(loads.read().workflowTasks().tasks()).isZero());
                assertOldest(client, loads, "late");

                client.answer("late", "Friday").await();
                client.say("late", "Ask 2").await();
                awaitWaiting(loads, 2);
                assertOldest(client, loads, "early");

                try (ReadyProcess serve = ReadyProcess.serve(server.address(), "--metrics-port", "0")) {
                    String metrics = serve.line().path("metrics").asText();
                    await().atMost(LONG)
                            .untilAsserted(() -> assertThat(get(metrics).lines())
                                    .contains(
                                            "waymark_threads_waiting{kind=\"question\"} 2.0",
                                            "waymark_threads_waiting{kind=\"approval\"} 0.0",
                                            "waymark_threads_waiting{kind=\"unknown\"} 0.0",
                                            "waymark_backlog_tasks{type=\"workflow\"} 0.0",
                                            "waymark_backlog_tasks{type=\"activity\"} 0.0",
                                            "waymark_backlog_age_seconds{type=\"activity\"} 0.0")
                                    .anyMatch(line -> line.matches("waymark_waiting_oldest_seconds [0-9]+\\.[0-9]+")));
                    assertThat(get(metrics.replace("/metrics", "/readyz"))).isEqualTo("ready\n");
                    client.answer("early", "Friday").await();
                    client.answer("late", "Friday").await();
                }
                awaitWaiting(loads, 0);
                assertThat(loads.read().oldest()).isEmpty();
            }
        }
    }

    private static String get(String url) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
