package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.codec.KeyStorage;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.workflow.TestServers;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers whose key storage is unavailable, or that get tasks of forgotten threads, on a real server. */
@Tag("server")
@Tag("full")
@Timeout(300)
class KeyStorageServerTest {
    /** Longer than keys stay in memory while the storage is unavailable. */
    private static final Duration LONG = Duration.ofMinutes(11);

    private static final String CANARY = "canary-4711";

    @TempDir
    Path directory;

    private final String name = "keys-" + UUID.randomUUID();
    private final WorkflowClient plain = TestServers.real().client();
    private final AtomicInteger charges = new AtomicInteger();
    private final AtomicInteger modelCalls = new AtomicInteger();
    private final ToolBarrier charging = new ToolBarrier();
    private KeyStorage storage;

    @BeforeEach
    void createStorage() throws IOException {
        storage = new KeyStorage(directory);
    }

    /** Counts its calls, and waits in each call until {@code charging} opens. */
    private final class Charging implements Tool {
        @Override
        public ToolSpec spec() {
            return ToolSpec.java("charge").timeout(Duration.ofMinutes(4)).build();
        }

        @Override
        public String run(Json args, ToolContext context) throws InterruptedException {
            charges.incrementAndGet();
            charging.pass();
            return "charged, " + CANARY;
        }
    }

    private ModelProvider model() {
        return request -> {
            modelCalls.incrementAndGet();
            boolean isCharged = request.messages().stream()
                    .anyMatch(message -> !message.toolResults().isEmpty());
            return isCharged
                    ? Reply.of(new Part.Text("Done."))
                    : Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of())));
        };
    }

    private AgentWorker worker(ThreadKeys keys, boolean withActivities) {
        Charging tool = new Charging();
        AgentWorker worker = AgentWorker.builder(KeyStorage.client(plain, keys))
                .taskQueue(name)
                .agents(AgentSpec.of("a", "test:model", tool.spec()))
                .tools(JavaTools.of(tool))
                .providers(ModelProviders.of(Map.of("test", model())))
                .workerOptions(options -> options.setLocalActivityWorkerOnly(!withActivities))
                .build();
        worker.start();
        return worker;
    }

    private WorkflowStub start(String thread) {
        ThreadKeys keys = storage.keys();
        keys.begin(plain.getOptions().getNamespace(), thread, Optional.empty());
        WorkflowStub stub = KeyStorage.client(plain, keys)
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(name)
                                .setWorkflowId(thread)
                                .build());
        stub.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m", "Charge " + CANARY)));
        return stub;
    }

    private Conversation read(String thread) {
        return new HistoryReader(KeyStorage.client(plain, storage.keys()))
                .read(thread)
                .orElseThrow()
                .now();
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(120));
    }

    private List<PendingActivityInfo> pending(String thread) {
        return plain.newUntypedWorkflowStub(thread)
                .describe()
                .getRawDescription()
                .getPendingActivitiesList();
    }

    private void assertChargedOnce(String thread) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(read(thread).turn().text()).isEqualTo("Done."));
        assertThat(read(thread).calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(read(thread).transcript().messages().toString()).contains("charged, " + CANARY);
        assertThat(charges).hasValue(1);
        assertThat(modelCalls).hasValue(2);
        assertThat(plain.fetchHistory(thread).toString()).doesNotContain(CANARY);
        HistoryCheck.check(new ThreadHistoryReader(KeyStorage.client(plain, storage.keys()))
                .read(thread)
                .orElseThrow()
                .runs()
                .get(0)
                .history());
    }

    @Test
    void effect_whoseResultHasNoKey_isReportedWhenTheStorageIsBack() throws Exception {
        try (AgentWorker worker = worker(storage.keys(), true)) {
            start(name);
            charging.awaitArrival();
            storage.takeAway();
            storage.pass(LONG);
            charging.open();
            // The tool has ended and its result waits for the key. The activity sends heartbeats for longer than their
            // timeout.
            PendingActivityInfo before = pending(name).get(0);
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> pending(name).get(0).getLastHeartbeatTime().getSeconds()
                            > before.getLastHeartbeatTime().getSeconds() + 16);

            storage.bringBack();

            assertChargedOnce(name);
        }
    }

    @Test
    void activity_whoseWorkerHasNoKey_isLeftToOthers() throws Exception {
        try (AgentWorker workflows = worker(storage.keys(), false)) {
            start(name);
            await().atMost(Duration.ofMinutes(1)).until(() -> !pending(name).isEmpty());
            ThreadKeys without = storage.keys();
            storage.takeAway();
            charging.open();
            try (AgentWorker worker = worker(without, true)) {
                Failure failure = await().atMost(Duration.ofMinutes(1))
                        .until(
                                () -> pending(name).stream()
                                        .filter(PendingActivityInfo::hasLastFailure)
                                        .map(PendingActivityInfo::getLastFailure)
                                        .findFirst()
                                        .orElse(Failure.getDefaultInstance()),
                                found -> found.hasApplicationFailureInfo());
                assertThat(failure.getApplicationFailureInfo().getType()).isEqualTo("KeyStoreUnavailable");
                assertThat(failure.getMessage())
                        .startsWith("the keys of threads are not available: there is no directory ");

                storage.bringBack();

                assertChargedOnce(name);
            }
        }
    }

    @Test
    void workflowTask_whoseWorkerHasNoKey_isRetried() throws Exception {
        start(name);
        storage.takeAway();
        charging.open();
        try (AgentWorker worker = worker(storage.keys(), true)) {
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> count(name, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED) > 0);
            storage.bringBack();

            assertChargedOnce(name);
        }
        Failure failure = events(name).stream()
                .filter(HistoryEvent::hasWorkflowTaskFailedEventAttributes)
                .findFirst()
                .orElseThrow()
                .getWorkflowTaskFailedEventAttributes()
                .getFailure();
        assertThat(failure.getApplicationFailureInfo().getType()).isEqualTo("KeyStoreUnavailable");
    }

    @Test
    void openForgottenThread_stopsWithinAMinuteWithoutAffectingOthers() throws Exception {
        try (AgentWorker worker = worker(storage.keys(), true)) {
            start(name);
            charging.awaitArrival();
            storage.keys().forget(plain.getOptions().getNamespace(), name);
            storage.pass(Duration.ofSeconds(61));
            charging.open();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> count(name, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED) > 0);

            String other = name + "-other";
            modelCalls.set(0);
            charges.set(0);
            start(other);

            assertChargedOnce(other);
            assertThat(worker.isReady()).isTrue();
        }
        HistoryEvent ended = events(name).stream()
                .filter(HistoryEvent::hasActivityTaskFailedEventAttributes)
                .findFirst()
                .orElseThrow();
        Failure failure = ended.getActivityTaskFailedEventAttributes().getFailure();
        assertThat(failure.getApplicationFailureInfo().getType()).isEqualTo("Forgotten");
        assertThat(failure.getApplicationFailureInfo().getNonRetryable()).isTrue();
        // The server retries the task, and usually records only the first failure in history.
        List<HistoryEvent> sinceTheFirstFailure = events(name).stream()
                .dropWhile(event -> !event.hasWorkflowTaskFailedEventAttributes())
                .toList();
        assertThat(sinceTheFirstFailure)
                .extracting(HistoryEvent::getEventType)
                .isSubsetOf(
                        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
                        EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
                        EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED);
        assertThat(sinceTheFirstFailure)
                .filteredOn(HistoryEvent::hasWorkflowTaskFailedEventAttributes)
                .hasSizeBetween(1, 2)
                .allSatisfy(task -> assertThat(task.getWorkflowTaskFailedEventAttributes()
                                .getFailure()
                                .getMessage())
                        .contains("was forgotten"));
        plain.newUntypedWorkflowStub(name).terminate("over");
    }

    private List<HistoryEvent> events(String thread) {
        return plain.fetchHistory(thread).getEvents();
    }

    private long count(String thread, EventType type) {
        return events(thread).stream()
                .filter(event -> event.getEventType() == type)
                .count();
    }
}
