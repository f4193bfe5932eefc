package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.FlakyReceiver;
import dev.waymark.e2e.product.FlakyReceiver.Delivery;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.temporal.client.WorkflowExecutionMetadata;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads announce requests and ends of turns to receivers that often fail, while the worker and the server are killed
 * at random moments. Every receiver must get everything, in order and with a valid signature, and the settings of a
 * receiver must not leave the worker.
 */
@Tag("server")
@Tag("full")
@Timeout(480)
class KilledAnnouncementsServerTest {
    /** {@code -Dkills.times=3} makes the test that much longer. */
    private static final int TIMES = Integer.getInteger("kills.times", 1);

    private static final int THREADS = 10 * TIMES;
    private static final int WORKERS_TO_KILL = 2 * TIMES;
    private static final int SERVERS_TO_KILL = 2 * TIMES;
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final JsonMapper JSON = new JsonMapper();

    private static final String WAITING = "request.waiting";
    private static final String REMINDER = "request.reminder";
    private static final String DECIDED = "request.decided";
    private static final String ENDED = "turn.ended";

    private static final String KEY = "canary-key-of-the-webhook-012345";
    private static final String SECRET = Base64.getEncoder().encodeToString(KEY.getBytes(StandardCharsets.UTF_8));
    private static final String TOKEN = "canary-token-of-slack";
    private static final Map<String, String> PATHS = Map.of("ops", "/ops", "team", "/services/T01/B02/" + TOKEN);
    private static final Map<String, String> ENVIRONMENT =
            Map.of("OPS_SECRET", "whsec_" + SECRET, "SLACK_PATH", "T01/B02/" + TOKEN);

    private static final Pattern SLACK_TEXT =
            Pattern.compile("Thread (\\S+) of clerk: .*?(still waits|no longer waits|waits|has ended)[^a-z].*");
    private static final Map<String, String> SLACK_EVENTS =
            Map.of("waits", WAITING, "still waits", REMINDER, "no longer waits", DECIDED, "has ended", ENDED);

    private final Random random = new Random(26);
    private final Map<String, Instant> decideAt = new HashMap<>();
    private final Map<String, String> seen = new TreeMap<>();

    @TempDir
    private Path directory;

    /** What a receiver was told about a thread. In a chat, all reminders look alike. */
    private record Event(String receiver, String thread, String type, int reminder) {
        static Event of(Delivery delivery) {
            JsonNode body = json(delivery.body());
            if (delivery.path().equals(PATHS.get("ops"))) {
                JsonNode data = body.path("data");
                return new Event(
                        "ops",
                        data.path("thread").asText(),
                        body.path("type").asText(),
                        data.path("reminder").asInt());
            }
            assertThat(delivery.path()).isEqualTo(PATHS.get("team"));
            Matcher text = SLACK_TEXT.matcher(body.path("text").asText());
            assertThat(text.matches()).as(delivery.body()).isTrue();
            return new Event("team", text.group(1), SLACK_EVENTS.get(text.group(2)), 0);
        }
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(int thread) {
        return "refund-" + thread;
    }

    /** Whether a thread's request is decided as soon as it waits, perhaps before it is announced. */
    private static boolean isHasty(int thread) {
        return thread % 5 == 0;
    }

    private static Set<Event> expected() {
        return IntStream.range(0, THREADS)
                .boxed()
                .flatMap(thread -> Stream.of(WAITING, DECIDED, ENDED)
                        .filter(type -> !type.equals(WAITING) || !isHasty(thread))
                        .flatMap(type ->
                                PATHS.keySet().stream().map(receiver -> new Event(receiver, name(thread), type, 0))))
                .collect(Collectors.toSet());
    }

    private static Set<Event> accepted(FlakyReceiver receiver) {
        return receiver.deliveries().stream()
                .filter(delivery -> delivery.answer().isAcceptance())
                .map(Event::of)
                .collect(Collectors.toSet());
    }

    private Path receivers(FlakyReceiver receiver) throws IOException {
        return Files.writeString(directory.resolve("receivers.yaml"), """
                ops: { webhook: "http://%1$s/ops", secret: "${OPS_SECRET}", allow_private: true }
                team: { slack: "http://%1$s/services/${SLACK_PATH}", allow_private: true }
                """.formatted(receiver.address()));
    }

    private Path agents() throws IOException {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        String events = "events: [" + String.join(", ", WAITING, REMINDER, DECIDED, ENDED) + "]";
        new Agents(agents).charger("clerk", 1, """
                approvals: { by: human, remind: 2s }
                announce:
                  ops: { %1$s, reveal: arguments }
                  team: { %1$s }
                """.formatted(events));
        return agents;
    }

    /** Decides about the request of a thread, if it is due. Returns whether it was decided. */
    private boolean attend(AgentClient client, int thread, Set<Event> accepted) {
        String name = name(thread);
        boolean isKnown =
                PATHS.keySet().stream().allMatch(receiver -> accepted.contains(new Event(receiver, name, WAITING, 0)));
        if (!isHasty(thread) && !isKnown) {
            return false;
        }
        Instant due = decideAt.computeIfAbsent(
                name, each -> Instant.now().plusMillis(isHasty(thread) ? 0 : random.nextInt(5_000 * TIMES)));
        if (Instant.now().isBefore(due)) {
            return false;
        }
        Timeline timeline = client.timeline(name);
        for (PendingItem item : timeline.pending()) {
            PersonFact.ApprovalDecided decision = thread % 3 == 0 ? Approval.deny("no") : Approval.approve();
            client.send(
                    name,
                    OutboundMessage.of(decision.withCall(item.callId())
                            .withDigest(item.argsDigest().orElseThrow())
                            .withBy("ann")));
        }
        return timeline.now().calls().get("tu_1").isPresent()
                && timeline.pending().isEmpty();
    }

    @Test
    void announcements_workersAndServerKilled_allArriveInOrderWithoutSecrets() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path database = directory.resolve("server/temporal.db");
        try (FlakyReceiver receiver = FlakyReceiver.start(26);
                KillableServer server = KillableServer.start(
                        binary.get(), port -> DevServer.temporal(binary.get(), Optional.of(database), port, 0));
                AgentClient client = AgentClient.connect(server.address()).withTimeout(Duration.ofSeconds(5))) {
            Path agents = agents();
            String receivers = receivers(receiver).toString();
            Callable<CliWorkerProcess> launch = () -> CliWorkerProcess.start(
                    server.address(), agents, ENVIRONMENT, directory.resolve("worker.log"), "--receivers", receivers);
            CliWorkerProcess worker = launch.call();
            try {
                for (int i = 0; i < THREADS; i++) {
                    client.start(Prompt.of("clerk", "Refund").withThread(name(i)));
                }
                Set<Integer> open = IntStream.range(0, THREADS).boxed().collect(Collectors.toCollection(TreeSet::new));
                int workersKilled = 0;
                int serversKilled = 0;
                Instant end = Instant.now().plus(PATIENCE);
                while (!open.isEmpty() || workersKilled < WORKERS_TO_KILL || serversKilled < SERVERS_TO_KILL) {
                    assertThat(Instant.now())
                            .as("threads nobody decided about: %s", open)
                            .isBefore(end);
                    Instant kill = Instant.now().plusMillis(1_000 + random.nextInt(6_000));
                    while (Instant.now().isBefore(kill)) {
                        Set<Event> accepted = accepted(receiver);
                        open.removeIf(thread -> attended(client, thread, accepted));
                        TimeUnit.MILLISECONDS.sleep(50);
                    }
                    boolean killsServer = serversKilled < SERVERS_TO_KILL && random.nextInt(2) == 0;
                    boolean killsWorker = workersKilled < WORKERS_TO_KILL && (!killsServer || random.nextInt(2) == 0);
                    if (killsServer) {
                        server.kill();
                        seen.put("log of server " + ++serversKilled, text(database.resolveSibling("temporal.log")));
                    }
                    if (killsWorker) {
                        worker.kill();
                        workersKilled++;
                    }
                    if (killsServer) {
                        server.restart();
                    }
                    if (killsWorker) {
                        worker = launch.call();
                    }
                }
                awaitAll(client, receiver);
                readHistories(server);
            } finally {
                worker.kill();
            }
            seen.put("log of the last server", text(database.resolveSibling("temporal.log")));
            seen.put("log of the workers", text(directory.resolve("worker.log")));
            seen.forEach((place, text) -> assertThat(text).as(place).doesNotContain(receiver.address()));
            check(receiver.deliveries());
        }
        try (Stream<Path> files = Files.list(database.getParent())) {
            seen.put("database", files.map(KilledAnnouncementsServerTest::text).collect(Collectors.joining()));
        }
        checkSecrets();
    }

    /** Checks that no secret is visible anywhere. Announced text is visible, which shows that the search works. */
    private void checkSecrets() {
        for (int i = 0; i < THREADS; i++) {
            assertThat(seen.get("history of " + name(i))).contains("\"receiver\":\"team\"");
        }
        assertThat(seen.get("database")).contains(REMINDER, "\"receiver\":\"team\"");
        assertThat(seen.get("log of the workers"))
                .contains("did not reach ops: status 500", "did not reach team: the connection was lost")
                .doesNotContain("is due at");
        for (String secret : List.of(KEY, SECRET, TOKEN)) {
            seen.forEach((place, text) -> assertThat(text.contains(secret))
                    .as("%s in %s", secret, place)
                    .isFalse());
        }
    }

    private boolean attended(AgentClient client, int thread, Set<Event> accepted) {
        try {
            return attend(client, thread, accepted);
        } catch (RuntimeException e) {
            return false; // It was decided before, or is without a worker for now: it is looked at again.
        }
    }

    private static void awaitAll(AgentClient client, FlakyReceiver receiver) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(accepted(receiver)).containsAll(expected()));
        for (int i = 0; i < THREADS; i++) {
            String name = name(i);
            await().atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> client.timeline(name)
                            .now()
                            .announcements()
                            .orElseThrow()
                            .open()
                            .isEmpty());
        }
    }

    private void readHistories(KillableServer server) throws Exception {
        try (Connection connection = Connection.to(server.address());
                Stream<WorkflowExecutionMetadata> all = connection.client().listExecutions("")) {
            all.forEach(run -> {
                String id = run.getExecution().getWorkflowId();
                WorkflowExecutionHistory history =
                        connection.client().fetchHistory(id, run.getExecution().getRunId());
                seen.merge(
                        "history of " + id,
                        history.toJson(true) + text(history.getHistory().toByteArray()),
                        String::concat);
            });
        }
    }

    private static String text(Path file) {
        try {
            return text(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Bytes as text in which ASCII can be found. */
    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void check(List<Delivery> deliveries) throws Exception {
        Map<FlakyReceiver.Answer, Integer> answers = new EnumMap<>(FlakyReceiver.Answer.class);
        Map<Event, Delivery> firsts = new LinkedHashMap<>();
        Map<String, Event> eventsById = new HashMap<>();
        Map<List<String>, List<String>> typesByRequest = new LinkedHashMap<>();
        for (Delivery delivery : deliveries) {
            answers.merge(delivery.answer(), 1, Integer::sum);
            Event event = Event.of(delivery);
            firsts.putIfAbsent(event, delivery);
            assertThat(delivery.body())
                    .as("a repeat")
                    .isEqualTo(firsts.get(event).body());
            if (event.receiver().equals("ops")) {
                String id = delivery.headers().get("webhook-id");
                assertThat(id).isEqualTo(firsts.get(event).headers().get("webhook-id"));
                assertThat(eventsById.computeIfAbsent(id, each -> event)).as(id).isEqualTo(event);
                checkSignature(delivery);
            }
            if (!event.type().equals(ENDED)) {
                typesByRequest
                        .computeIfAbsent(List.of(event.receiver(), event.thread()), each -> new ArrayList<>())
                        .add(event.type());
            }
        }
        typesByRequest.forEach((request, types) -> {
            String story = request + ": " + types;
            assertThat(types.get(0)).as(story).isNotEqualTo(REMINDER);
            assertThat(types.subList(types.indexOf(DECIDED), types.size()))
                    .as(story)
                    .containsOnly(DECIDED);
        });
        assertThat(answers.keySet()).containsExactly(FlakyReceiver.Answer.values());
        assertThat(deliveries).as("with repeats").hasSizeGreaterThan(firsts.size() + THREADS);
    }

    private static void checkSignature(Delivery delivery) throws Exception {
        Map<String, String> headers = delivery.headers();
        Instant sent = Instant.ofEpochSecond(Long.parseLong(headers.get("webhook-timestamp")));
        assertThat(Duration.between(sent, delivery.at()).abs()).isLessThan(Duration.ofMinutes(1));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(KEY.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        String content = headers.get("webhook-id") + "." + headers.get("webhook-timestamp") + "." + delivery.body();
        assertThat(headers.get("webhook-signature"))
                .isEqualTo("v1,"
                        + Base64.getEncoder().encodeToString(mac.doFinal(content.getBytes(StandardCharsets.UTF_8))));
    }
}
