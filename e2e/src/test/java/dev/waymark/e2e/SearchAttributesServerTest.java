package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.PendingPage;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.PlainServer;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.AgentWorker;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.IndexedValueType;
import io.temporal.api.operatorservice.v1.AddSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.OperatorServiceGrpc;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Lists of threads on a server with search attributes, and on a server that got the attributes after its first threads
 * had started.
 */
@Tag("full")
@Tag("server")
@Timeout(180)
class SearchAttributesServerTest {
    private static final int CROWD = 150;

    /** Asks for the day if the last message is "Ask"; ends the turn otherwise. */
    private static Reply reply(ModelRequest request) {
        Message last = request.messages().get(request.messages().size() - 1);
        return last.text().equals("Ask")
                ? Reply.of(new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", "Which day?"))))
                : Reply.of(new Part.Text("Done."));
    }

    private static AgentSpec agent(String name) {
        return AgentSpec.of(name, "fake:model", BuiltInTools.askUser());
    }

    private static AgentWorker worker(Connection connection) {
        AgentWorker worker = AgentWorker.on(connection)
                .agents(agent("asker"), agent("booker"))
                .provider("fake", SearchAttributesServerTest::reply)
                .build();
        worker.start();
        return worker;
    }

    private static String ask(AgentClient client, String agent, String thread) {
        assertThat(client.run(Prompt.of(agent, "Ask").withThread(thread)).await())
                .isInstanceOf(AgentResult.Interrupted.class);
        return thread;
    }

    private static List<String> pending(AgentClient client, PendingPageRequest request) {
        return client.lists().pending(request, (done, of) -> {}).items().stream()
                .map(PendingItem::thread)
                .toList();
    }

    private static List<String> listed(AgentClient client, ThreadPageRequest request) {
        return client.lists().threads(request, owner -> true, Progress.NONE).threads().stream()
                .map(ThreadSummary::thread)
                .toList();
    }

    private static ThreadPageRequest threads(Optional<String> status, Optional<String> agent) {
        return new ThreadPageRequest(50, Optional.empty(), false, status, agent);
    }

    @Test
    void setUp_earlierAndLaterThreads_areAllListed() throws Exception {
        PendingPageRequest all = PendingPageRequest.first(50);
        try (PlainServer server = PlainServer.start();
                Connection ofTheWorker = server.connect();
                AgentWorker worker = worker(ofTheWorker)) {
            try (AgentClient client = AgentClient.connect(server.address())) {
                ask(client, "asker", "older");
                client.run(Prompt.of("asker", "Say").withThread("older-idle")).await();
                assertThat(client.lists().isIndexed()).isFalse();
                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(pending(client, all)).containsExactly("older"));

                assertThat(client.lists().setUp())
                        .containsExactly("WaymarkAgent", "WaymarkStatus", "WaymarkWaitingFor");
                assertThat(client.lists().setUp()).isEmpty();
            }
            try (AgentClient client = AgentClient.connect(server.address())) {
                assertThat(client.lists().isIndexed()).isTrue();
                ask(client, "asker", "newer");
                ask(client, "booker", "other");
                client.run(Prompt.of("asker", "Say").withThread("idle")).await();
                client.prompt("asker", "Say").await();
                await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                    assertThat(pending(client, all)).containsExactlyInAnyOrder("older", "newer", "other");
                    assertThat(listed(client, threads(Optional.of("interrupted"), Optional.of("asker"))))
                            .containsExactlyInAnyOrder("older", "newer");
                    assertThat(listed(client, threads(Optional.of("complete"), Optional.empty())))
                            .hasSize(3)
                            .contains("older-idle", "idle");
                    assertThat(listed(client, threads(Optional.empty(), Optional.of("booker"))))
                            .containsExactly("other");
                });
                assertThat(client.lists().pending((done, of) -> {}))
                        .extracting(PendingItem::thread)
                        .containsExactly("older", "newer", "other");

                client.answer("older", "Friday").await();
                client.answer("newer", "Friday").await();

                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(pending(client, all)).containsExactly("other"));
                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(
                                        listed(client, threads(Optional.of("interrupted"), Optional.empty())))
                                .containsExactly("other"));
                // One update each when the question is asked, when it is answered, and when the turn ends.
                assertThat(upserts(ofTheWorker, "newer")).isEqualTo(3);
                assertThat(upserts(ofTheWorker, "idle")).isEqualTo(1);
                assertThat(upserts(ofTheWorker, "older")).isZero();
                assertThat(client.inspector().verify("newer").agrees()).isTrue();
            }
        }
    }

    private static long upserts(Connection connection, String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES)
                .count();
    }

    @Test
    void setUp_attributeOfAnotherType_isRefusedAndCreatesNothing() throws Exception {
        try (PlainServer server = PlainServer.start("--search-attribute", "WaymarkStatus=Int");
                AgentClient client = AgentClient.connect(server.address())) {
            assertThatThrownBy(() -> client.lists().setUp())
                    .isInstanceOf(WaymarkException.Refused.class)
                    .hasMessageContaining("WaymarkStatus of another type: Int instead of Keyword");
            assertThat(client.lists().isIndexed()).isFalse();
        }
    }

    @Test
    void start_directlyAfterSetUp_isNotRefused() throws Exception {
        try (PlainServer server = PlainServer.start();
                Connection connection = server.connect();
                AgentWorker worker = worker(connection)) {
            OperatorServiceGrpc.newBlockingStub(
                            connection.stubs().blockingStub().getChannel())
                    .addSearchAttributes(AddSearchAttributesRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .putSearchAttributes("WaymarkAgent", IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
                            .putSearchAttributes("WaymarkStatus", IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
                            .putSearchAttributes("WaymarkWaitingFor", IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST)
                            .build());
            try (AgentClient client = AgentClient.connect(server.address())) {
                ask(client, "asker", "early");

                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(pending(client, PendingPageRequest.first(50)))
                                .containsExactly("early"));
            }
        }
    }

    @Test
    void pending_ofManyThreads_isPaged() throws Exception {
        try (PlainServer server = PlainServer.start();
                Connection ofTheWorker = server.connect();
                AgentClient client = AgentClient.connect(server.address())) {
            client.lists().setUp();
            for (int i = 0; i < CROWD; i++) {
                client.start(Prompt.of("asker", "Ask").withThread("crowd-" + i));
                client.start(Prompt.of("asker", "Say").withThread("idle-" + i));
            }
            try (AgentWorker worker = worker(ofTheWorker)) {
                await().atMost(Duration.ofMinutes(2))
                        .untilAsserted(() -> assertThat(everything(client, 100))
                                .hasSize(CROWD)
                                .doesNotHaveDuplicates());

                PendingPage page = client.lists().pending(PendingPageRequest.first(100), (done, of) -> {});

                assertThat(page.items()).hasSize(100);
                assertThat(page.items()).extracting(PendingItem::since).isSorted();
                client.answer("crowd-17", "Friday").await();
                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(everything(client, 70))
                                .hasSize(CROWD - 1)
                                .doesNotContain("crowd-17"));
                ThreadPage complete = client.lists()
                        .threads(
                                new ThreadPageRequest(
                                        100, Optional.empty(), false, Optional.of("complete"), Optional.of("asker")),
                                owner -> true,
                                Progress.NONE);
                assertThat(complete.threads())
                        .hasSize(100)
                        .allMatch(thread -> thread.status().equals("complete"));
                assertThat(complete.next()).isPresent();
            }
        }
    }

    private static List<String> everything(AgentClient client, int limit) {
        List<String> threads = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            PendingPage page = client.lists()
                    .pending(
                            new PendingPageRequest(
                                    limit, after, Optional.of("question"), Optional.empty(), Optional.empty()),
                            (done, of) -> {});
            page.items().forEach(item -> threads.add(item.thread()));
            after = page.next();
        } while (after.isPresent());
        return threads;
    }
}
