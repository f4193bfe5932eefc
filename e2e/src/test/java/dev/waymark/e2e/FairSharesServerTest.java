package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.e2e.product.PlainServer;
import dev.waymark.model.ModelRequest;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.worker.AgentWorker;
import io.temporal.api.common.v1.Priority;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** Two owners share a worker on a real server whose fairness is enabled. */
@Tag("full")
@Tag("server")
@Timeout(400)
@Isolated
class FairSharesServerTest {
    private static final int CROWD = 1_000;
    private static final int SLOTS = 4;
    private static final long MODEL_MILLIS = 500;
    /** Uses a single partition: a worker polls one partition at a time, and each is fair only within itself. */
    private static final String[] SETTINGS = Stream.of(
                    "matching.enableFairness=true",
                    "matching.numTaskqueueReadPartitions=1",
                    "matching.numTaskqueueWritePartitions=1",
                    "history.transferProcessorMaxPollRPS=5000")
            .flatMap(setting -> Stream.of("--dynamic-config-value", setting))
            .toArray(String[]::new);

    private static final ThreadOwner HEAVY = ThreadOwner.ofSubject("heavy");
    private static final ThreadOwner LIGHT = ThreadOwner.ofSubject("light");

    /** When the model was called for each message. */
    private final Map<String, Long> called = new ConcurrentHashMap<>();

    private Reply reply(ModelRequest request) {
        called.putIfAbsent(request.messages().get(0).text(), System.nanoTime());
        try {
            Thread.sleep(MODEL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Reply.of(new Part.Text("Done."));
    }

    private AgentWorker worker(Connection connection) {
        AgentWorker worker = AgentWorker.on(connection)
                .agents(AgentSpec.of("clerk", "fake:model"))
                .provider("fake", this::reply)
                .workerOptions(options -> options.setMaxConcurrentActivityExecutionSize(SLOTS))
                .build();
        worker.start();
        return worker;
    }

    private static void start(AgentClient client, ThreadOwner owner, String thread) {
        client.startNew(
                Prompt.of("clerk", thread).withThread(thread),
                NewThreadOptions.ownedBy(Optional.of(owner)).closingAfterOneTurn());
    }

    /** The time until the model is called. */
    private Duration begun(AgentClient client, ThreadOwner owner, String thread) {
        long before = System.nanoTime();
        start(client, owner, thread);
        await().atMost(Duration.ofMinutes(3))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> called.containsKey(thread));
        return Duration.ofNanos(called.get(thread) - before);
    }

    @Test
    void turn_besideAThousandOfAnotherOwner_startsSoon(TestReporter reporter) throws Exception {
        try (PlainServer server = PlainServer.start(SETTINGS);
                Connection connection = server.connect();
                AgentClient client = AgentClient.connect(server.address())) {
            Duration turn = Duration.ofMillis(MODEL_MILLIS);
            try (AgentWorker alone = worker(connection)) {
                begun(client, LIGHT, "warm-up");
                Thread.sleep(MODEL_MILLIS);
                Duration unhindered = begun(client, LIGHT, "alone");
                reporter.publishEntry("alone", unhindered.toMillis() + " ms until the model is called");
                turn = turn.plus(unhindered);
            }
            crowd(client);
            try (AgentWorker shared = worker(connection)) {
                await().atMost(Duration.ofMinutes(1)).until(() -> called.size() > 2 + 2 * SLOTS);
                start(client, HEAVY, "heavy-late");
                Duration beside = begun(client, LIGHT, "beside");
                reporter.publishEntry("beside " + CROWD, beside.toMillis() + " ms until the model is called");

                // A slot becomes free when the model has answered. On an idle machine, a turn alone takes 0.6 s, and
                // the crowd takes a minute or more.
                assertThat(beside).isLessThan(turn.multipliedBy(2).plusSeconds(5));
                assertThat(called).doesNotContainKey("heavy-late").hasSizeLessThan(CROWD / 2);
                Priority share = connection
                        .client()
                        .fetchHistory("beside")
                        .getEvents()
                        .get(0)
                        .getWorkflowExecutionStartedEventAttributes()
                        .getPriority();
                assertThat(share.getFairnessKey()).startsWith("s-").doesNotContain("light");
                assertThat(share.getFairnessWeight()).isEqualTo(1);
            }
        }
    }

    /** Starts the threads while no worker runs, so that all of them wait in the queue. */
    private static void crowd(AgentClient client) throws InterruptedException {
        ExecutorService starters = Executors.newFixedThreadPool(8);
        for (int i = 0; i < CROWD; i++) {
            String thread = "heavy-" + i;
            starters.execute(() -> start(client, HEAVY, thread));
        }
        starters.shutdown();
        assertThat(starters.awaitTermination(2, TimeUnit.MINUTES)).isTrue();
    }
}
