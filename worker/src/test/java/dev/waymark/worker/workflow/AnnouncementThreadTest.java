package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.http.RecordingServer;
import io.temporal.api.enums.v1.EventType;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads whose requests and ends are announced to a real HTTP server. */
class AnnouncementThreadTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** The base64 text of a key that is used nowhere else. */
    private static final String SECRET = "whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5";

    private final AtomicInteger failures = new AtomicInteger();
    private final Set<String> down = ConcurrentHashMap.newKeySet();
    private final RecordingServer server = RecordingServer.with((exchange, request) -> {
        boolean fails = down.contains(request.target()) || failures.getAndDecrement() > 0;
        RecordingServer.send(exchange, fails ? 503 : 200, "ok");
    });

    @AfterEach
    void stop() {
        server.close();
    }

    private Receivers receivers() {
        return receivers(server);
    }

    private static Receivers receivers(RecordingServer server) {
        return Receivers.NONE
                .and("ops", new Receiver.Webhook(server.url("/ops"), List.of(SECRET), true))
                .and("boss", new Receiver.Webhook(server.url("/boss"), List.of(SECRET), true))
                .linkingTo(URI.create("https://agents.example"));
    }

    /** A worker with refunds that need approval, and with this server as receivers. */
    static WorkflowRig rig(Connection connection, RecordingServer server, UnaryOperator<AgentSpec.Builder> agent) {
        return new WorkflowRig(connection, ApprovalByRuleTest.refunding(), GrantThreadTest.refund())
                .with(agent)
                .knowing(receivers(server));
    }

    private WorkflowRig rig(AnnounceRule... rules) {
        return rig(TestServers.inMemory(), server, agent -> agent.announce(rules));
    }

    /** The documents that a receiver has accepted or refused, in order. */
    private List<Json> told(String path) {
        return server.requests().stream()
                .filter(request -> request.target().equals(path))
                .map(request -> json(request.body()))
                .toList();
    }

    private static Json json(String text) {
        try {
            return PayloadJson.MAPPER.readValue(text, Json.class);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> types(String path) {
        return told(path).stream()
                .map(document -> String.valueOf(document.field("type")))
                .toList();
    }

    private void awaitTypes(String path, String... types) {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(types(path)).containsExactly(types));
    }

    private Map<?, ?> data(String path, int index) {
        return (Map<?, ?>) told(path).get(index).field("data");
    }

    private static long events(WorkflowRig rig, String thread) {
        return rig.client()
                .fetchHistory(thread, rig.timeline(thread).runId())
                .getLastEvent()
                .getEventId();
    }

    @Test
    void approval_isAnnouncedWhenItWaitsAndWhenItIsDecided() {
        try (WorkflowRig rig = rig(
                AnnounceRule.to("ops").revealing(AnnounceRule.Reveal.ARGUMENTS),
                AnnounceRule.to("boss").revealing(AnnounceRule.Reveal.NOTHING))) {
            String thread = GrantThreadTest.start(rig, "100");
            awaitTypes("/ops", "request.waiting");
            awaitTypes("/boss", "request.waiting");

            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "by", "ann"));
            awaitTypes("/ops", "request.waiting", "request.decided");
            awaitTypes("/boss", "request.waiting", "request.decided");
            rig.awaitTurn(thread, 1);

            assertThat(String.valueOf(data("/ops", 0).get("args"))).isEqualTo("{usd=100}");
            assertThat(data("/ops", 0).get("link"))
                    .isEqualTo("https://agents.example/#/thread/" + thread + "?call=tu_1");
            assertThat(data("/ops", 1).get("outcome")).isEqualTo("approved");
            assertThat(data("/ops", 1).get("by")).isEqualTo("ann");
            assertThat(server.requests().stream()
                            .filter(request -> request.target().equals("/boss"))
                            .map(RecordingServer.Request::body))
                    .noneMatch(body -> body.contains("refund") || body.contains("100") || body.contains("ann\""));
            // In the history's JSON, payloads are in base64.
            String history = new String(
                    rig.client().fetchHistory(thread).getHistory().toByteArray(), StandardCharsets.ISO_8859_1);
            assertThat(history).contains("\"receiver\":\"boss\"").doesNotContain("Y2FuYXJ5", "canary", "127.0.0.1");
        }
    }

    @Test
    void receiverThatIsDown_delaysNothingAndLaterGetsTheDecisionOnly() {
        down.add("/ops");
        try (WorkflowRig rig = rig(AnnounceRule.to("ops"))) {
            String thread = GrantThreadTest.start(rig, "100");
            await().atMost(PATIENCE).until(() -> types("/ops").size() >= 2);

            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_1", "by", "ben"));
            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("Done");
            int before = server.requests().size();
            down.clear();

            await().atMost(PATIENCE).until(() -> types("/ops").contains("request.decided"));
            await().atMost(PATIENCE)
                    .until(() -> rig.timeline(thread)
                            .now()
                            .announcements()
                            .orElseThrow()
                            .open()
                            .isEmpty());
            assertThat(types("/ops").subList(before, types("/ops").size())).containsOnly("request.decided");
            List<RecordingServer.Request> repeats = server.requests().subList(0, before).stream()
                    .filter(request -> request.body().contains("request.waiting"))
                    .toList();
            assertThat(repeats)
                    .extracting(request -> request.headers().getFirst("webhook-id") + request.body())
                    .hasSizeGreaterThan(1)
                    .containsOnly(repeats.get(0).headers().getFirst("webhook-id")
                            + repeats.get(0).body());
        }
    }

    @Test
    void turnsAndSubagents_areAnnouncedByTheRootThread() {
        ModelProvider provider = request -> {
            boolean isRoot = request.messages().get(0).text().equals("Go");
            if (!request.messages()
                    .get(request.messages().size() - 1)
                    .toolResults()
                    .isEmpty()) {
                return Reply.of(new Part.Text("Done"));
            }
            return Reply.of(
                    isRoot
                            ? new Part.ToolUse("tu_1", "clerk", Json.of(Map.of("task", "refund it")))
                            : new Part.ToolUse("tu_7", "refund", Json.of(Map.of("usd", 5))));
        };
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), provider, GrantThreadTest.refund())
                .with(agent -> agent.announce(AnnounceRule.to("ops").only(AnnouncedEvent.values())))
                .withSubagents("boss", "clerk")
                .knowing(receivers())) {
            String thread = rig.start(StartInput.of("boss").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            awaitTypes("/ops", "request.waiting");
            assertThat(data("/ops", 0).get("callId")).isEqualTo("tu_1/tu_7");
            assertThat(data("/ops", 0).get("thread")).isEqualTo(thread);

            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1/tu_7"));
            awaitTypes("/ops", "request.waiting", "request.decided", "turn.ended");
            assertThat(data("/ops", 2).get("outcome")).isEqualTo("complete");
            rig.adopt(thread + "/tu_1");
        }
    }

    @Test
    void undecidedRequest_expiresLikeAQuestion() {
        WaitRule waiting = WaitRule.DEFAULT;
        ModelProvider asking = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Nobody there"))
                : Reply.of(
                        new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", "Which day?"))),
                        new Part.ToolUse("tu_2", "refund", Json.of(Map.of("usd", 1))));
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), asking, GrantThreadTest.refund())
                .with(agent -> agent.announce(AnnounceRule.to("ops"))
                        .approvals(new AgentSpec.Approvals(false, Optional.of(Duration.ofSeconds(2))).waiting(waiting)))
                .knowing(receivers())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.FAILED);
            assertThat(state.calls().get("tu_2").orElseThrow().status()).isEqualTo(Call.Status.DENIED);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(types("/ops"))
                            .containsExactlyInAnyOrder(
                                    "request.waiting", "request.waiting", "request.expired", "request.expired"));
        }
    }

    @Test
    void monthOfWaiting_costsFewEvents() throws Exception {
        try (InMemoryServer temporal = InMemoryServer.start(0);
                Connection connection = Connection.to(temporal.address());
                SkippedTime time = SkippedTime.on(temporal.address());
                WorkflowRig rig = rig(
                        connection,
                        server,
                        agent -> agent.announce(AnnounceRule.to("ops"))
                                .approvals(new AgentSpec.Approvals(false, Optional.of(Duration.ofDays(1)))
                                        .waiting(WaitRule.DEFAULT
                                                .reminding(Duration.ofHours(1))
                                                .escalating(Duration.ofHours(4), "boss")
                                                .keepingOn())))) {
            String thread = GrantThreadTest.start(rig, "100");
            awaitTypes("/ops", "request.waiting");
            failures.set(3);
            for (int hours : new int[] {1, 2, 1, 1, 3, 8, 16}) {
                time.skip(Duration.ofHours(hours));
            }
            for (int day = 0; day < 29; day++) {
                time.skip(Duration.ofDays(1));
            }
            await().atMost(PATIENCE).until(() -> types("/ops").size() > 30);
            long eventsBefore = events(rig, thread);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);

            assertThat(eventsBefore).isLessThan(30);
            await().atMost(PATIENCE).until(() -> types("/ops").contains("request.decided"));
            assertThat(types("/ops").stream().filter("request.expired"::equals)).hasSize(1);
            assertThat(types("/ops").stream().filter("request.reminder"::equals))
                    .hasSizeBetween(28, 34);
            await().atMost(PATIENCE).until(() -> types("/boss").contains("request.decided"));
            assertThat(types("/boss").stream().distinct()).containsExactly("request.escalated", "request.decided");
        }
    }

    @Test
    void runThatContinuesAsNew_keepsItsAnnouncement() {
        down.add("/ops");
        try (WorkflowRig rig = rig(AnnounceRule.to("ops"))) {
            String thread = rig.start(StartInput.of("a")
                    .withLimits(RunLimits.DEFAULT.withSoftEvents(10))
                    .saying(PersonFact.UserSpoke.message("m-1", "100")));
            await().atMost(PATIENCE).until(() -> !types("/ops").isEmpty());
            await().atMost(PATIENCE)
                    .until(() -> !rig.client()
                            .fetchHistory(thread)
                            .getEvents()
                            .get(0)
                            .getWorkflowExecutionStartedEventAttributes()
                            .getContinuedExecutionRunId()
                            .isEmpty());
            int before = types("/ops").size();
            await().atMost(PATIENCE).until(() -> types("/ops").size() > before);
            down.clear();
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1"));
            await().atMost(PATIENCE).until(() -> types("/ops").contains("request.decided"));
            rig.awaitTurn(thread, 1);
        }
    }

    @Test
    void closingThread_retriesForAMinute() {
        down.add("/ops");
        try (WorkflowRig rig = rig(AnnounceRule.to("ops").only(AnnouncedEvent.TURN_ENDED))) {
            String thread = rig.start(
                    StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "100")));
            rig.await(thread, now -> now.asks().size() == 1);
            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);
            await().atMost(PATIENCE).until(() -> types("/ops").size() >= 2);
            down.clear();

            rig.stub(thread).getResult(Object.class);

            assertThat(types("/ops")).containsOnly("turn.ended");
        }
    }

    /** An attempt that hangs holds the thread open for a minute, without a timer for each moment. */
    @Test
    @Tag("full")
    void closingThread_givesUpAfterAMinute() {
        CountDownLatch never = new CountDownLatch(1);
        try (RecordingServer silent = RecordingServer.with((exchange, request) -> hang(never));
                WorkflowRig rig = rig(
                        TestServers.inMemory(),
                        silent,
                        agent -> agent.announce(AnnounceRule.to("ops").only(AnnouncedEvent.TURN_ENDED)))) {
            String thread = rig.start(
                    StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "100")));
            rig.await(thread, now -> now.asks().size() == 1);
            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);

            rig.stub(thread).getResult(Object.class);

            assertThat(rig.client().fetchHistory(thread).getEvents().stream()
                            .filter(event -> event.getEventType() == EventType.EVENT_TYPE_TIMER_STARTED))
                    .hasSizeLessThan(4);
        } finally {
            never.countDown();
        }
    }

    private static void hang(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The receiver is down, and the run has to end in the middle of a turn. */
    @Test
    void runThatContinuesAsNewDuringATurn_isNotDelayed() {
        down.add("/ops");
        try (WorkflowRig rig = rig(AnnounceRule.to("ops"))) {
            String thread = rig.start(StartInput.of("a")
                    .withLimits(RunLimits.DEFAULT.withSoftEvents(20))
                    .saying(PersonFact.UserSpoke.message("m-1", "100")));
            for (int turn = 1; turn <= 4; turn++) {
                rig.await(thread, now -> now.asks().size() == 1);
                rig.update(thread, SignalNames.APPROVE, Map.of("callId", call(turn)));
                rig.awaitTurn(thread, turn);
                rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + (turn + 1), "content", "10" + turn));
            }
            rig.await(thread, now -> now.asks().size() == 1);

            assertThat(events(rig, thread)).isLessThan(60);
            down.clear();
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", call(5)));
            await().atMost(PATIENCE).until(() -> Collections.frequency(types("/ops"), "request.decided") >= 5);
        }
    }

    /** The model repeats the id of its call, so the thread renames the later ones. */
    private static String call(int turn) {
        return turn == 1 ? "tu_1" : "tu_1~" + turn;
    }
}
