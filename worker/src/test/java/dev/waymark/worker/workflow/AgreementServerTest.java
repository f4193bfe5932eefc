package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelRequest;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WorkflowServiceException;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens to a thread, its workflow and the projection of its history have the same state. */
@Tag("server")
@Tag("full")
class AgreementServerTest {
    private static final Usage SOME = new Usage(10, 2);

    /** A model whose reply depends only on the last user message. */
    static Reply obedient(ModelRequest request) {
        List<Message> messages = request.messages();
        Message last = messages.get(messages.size() - 1);
        if (!last.toolResults().isEmpty()) {
            return new Reply(List.of(new Part.Text("Done: " + last.toolResults())), SOME, "end_turn");
        }
        String wish = last.text();
        if (wish.startsWith("ask")) {
            return new Reply(List.of(AgentWorkflowCases.ask("tu_ask", "Which day?")), SOME, "tool_use");
        }
        if (wish.startsWith("batch")) {
            return new Reply(List.of(use("tu_1", "Oslo"), use("tu_2", "Rome"), use("tu_3", "Bern")), SOME, "tool_use");
        }
        return new Reply(List.of(new Part.Text("You said: " + wish)), SOME, "end_turn");
    }

    private static Part.ToolUse use(String id, String city) {
        return new Part.ToolUse(id, "weather", Json.of(Map.of("name", city)));
    }

    static JavaTool<?> weather() {
        return JavaTool.of(
                        "weather",
                        "The weather",
                        AgentWorkflowCases.City.class,
                        (city, context) -> city.name() + ": sunny")
                .safeToRetry();
    }

    /** Runs a conversation that uses many features, and returns when its turn is complete and no message is queued. */
    static String converse(WorkflowRig rig, StartInput start) {
        String thread = rig.start(start.saying(PersonFact.UserSpoke.message("m-1", "batch of three")));
        rig.awaitTurn(thread, 1);
        rig.stub(thread).signal(SignalNames.SAY, "Hello by signal");
        rig.stub(thread).signal("nope", 5);
        rig.awaitTurn(thread, 2);
        update(rig, thread, "u-3", SignalNames.SAY, Map.of("id", "m-3", "content", "ask me"));
        rig.awaitSettled(thread);
        update(rig, thread, "u-3", SignalNames.SAY, Map.of("id", "m-3", "content", "ask me"));
        update(rig, thread, "u-4", SignalNames.SAY, Map.of("id", "m-3", "content", "ask me"));
        rig.update(thread, SignalNames.SAY, Map.of("id", "m-4", "content", "while you wait"));
        rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_ask", "answer", "Friday"));
        rig.awaitTurn(thread, 3);
        rig.update(thread, SignalNames.SAY, Map.of("id", "m-5", "content", "ask again"));
        rig.await(thread, now -> now.isInterrupted());
        rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));
        rig.stub(thread).signal(SignalNames.SAY, "Bye");
        rig.await(
                thread,
                now -> now.turn().status() == Turn.Status.COMPLETE
                        && now.queue().isEmpty());
        return thread;
    }

    private static void update(WorkflowRig rig, String thread, String updateId, String name, Object payload) {
        rig.stub(thread)
                .startUpdate(
                        UpdateOptions.newBuilder(Object.class)
                                .setUpdateName(name)
                                .setUpdateId(updateId)
                                .setWaitForStage(io.temporal.client.WorkflowUpdateStage.COMPLETED)
                                .build(),
                        payload)
                .getResult();
    }

    static void checkPrefixes(WorkflowRig rig, String thread) {
        ContinueAsNewCases.runs(rig.timeline(thread))
                .forEach(run -> Prefixes.check(rig.client(), rig.client().fetchHistory(thread, run)));
    }

    @Test
    void everyPrefix_ofAConversation_agrees() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            String thread = converse(rig, StartInput.of("a"));

            String run = rig.timeline(thread).runId();
            assertThat(Prefixes.check(rig.client(), rig.client().fetchHistory(thread, run)))
                    .isGreaterThan(15);
        }
    }

    @Test
    void reset_toEveryAllowedPlace_settlesAndAgrees() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            String thread = converse(rig, StartInput.of("a"));
            String original = rig.timeline(thread).runId();
            List<HistoryEvent> events =
                    rig.client().fetchHistory(thread, original).getEvents();
            int resets = 0;
            int refused = 0;
            for (HistoryEvent event : events) {
                boolean completed = event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
                boolean started = event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED
                        && event.getEventId() % 4 == 3;
                if (!completed && !started) {
                    continue;
                }
                Optional<String> allowed = resetIfAllowed(rig, thread, original, event.getEventId());
                if (allowed.isEmpty()) {
                    refused++;
                    continue;
                }
                String run = allowed.get();
                resets++;

                // Updates that the reset restores are admitted first, and are invisible until they are accepted.
                rig.await(thread, now -> now.isSettled() && now.seen().contains("m-5"));
                rig.check(thread);
                Timeline timeline = rig.timeline(thread);
                assertThat(timeline.runId()).isEqualTo(run);
                assertThat(timeline.now().ignored().count()).isPositive();
                if (resets % 5 == 0) {
                    Prefixes.check(rig.client(), rig.client().fetchHistory(thread, run));
                }
            }
            assertThat(resets).isGreaterThan(15);
            assertThat(refused).isLessThan(resets / 3);
        }
    }

    /**
     * Empty if the server refuses, which it does if it wrote the start and the end of a task together, as for some
     * updates.
     */
    private static Optional<String> resetIfAllowed(WorkflowRig rig, String thread, String run, long eventId) {
        try {
            return Optional.of(reset(rig, thread, run, eventId));
        } catch (StatusRuntimeException e) {
            if (String.valueOf(e.getMessage()).contains("must be at the boundary")) {
                return Optional.empty();
            }
            throw e;
        }
    }

    static String reset(WorkflowRig rig, String thread, String run, long eventId) {
        return rig.connection()
                .stubs()
                .blockingStub()
                .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                        .setNamespace(rig.connection().namespace())
                        .setWorkflowExecution(WorkflowExecution.newBuilder()
                                .setWorkflowId(thread)
                                .setRunId(run))
                        .setWorkflowTaskFinishEventId(eventId)
                        .setRequestId(UUID.randomUUID().toString())
                        .setReason("a test")
                        .build())
                .getRunId();
    }

    /**
     * Uses signals only, because server 1.29.1 answers INTERNAL if it would have to restore updates from a later run.
     */
    @Test
    void reset_ofAnEarlierRun_agrees() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            StartInput start = StartInput.of("a").withLimits(RunLimits.DEFAULT.withSoftEvents(14));
            String thread = rig.start(start.saying(PersonFact.UserSpoke.message("m-1", "plain")));
            for (int turn = 1; turn < 5; turn++) {
                rig.awaitTurn(thread, turn);
                rig.stub(thread).signal(SignalNames.SAY, Map.of("id", "s-" + turn, "content", "Hello " + turn));
            }
            rig.awaitTurn(thread, 5);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(1);
            long completed = rig.client().fetchHistory(thread, runs.get(0)).getEvents().stream()
                    .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                    .skip(1)
                    .findFirst()
                    .orElseThrow()
                    .getEventId();

            reset(rig, thread, runs.get(0), completed);

            Conversation state = rig.await(
                    thread,
                    now -> now.isSettled()
                            && now.seen().contains("s-4")
                            && now.queue().isEmpty());
            assertThat(ContinueAsNewCases.said(state))
                    .containsExactly("plain", "Hello 1", "Hello 2", "Hello 3", "Hello 4");
            checkPrefixes(rig, thread);
        }
    }

    /**
     * The signals of each thread are in one workflow task, because there was no worker when they arrived. The order of
     * history counts.
     */
    @Test
    void signalsAroundACancellation_inOneTask_agree() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            for (int before = 0; before < 3; before++) {
                String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "ask me")));
                rig.awaitSettled(thread);
                rig.suspend();
                for (int i = 0; i < before; i++) {
                    rig.stub(thread).signal(SignalNames.SAY, "Before " + i);
                }
                rig.stub(thread).cancel();
                rig.stub(thread).signal(SignalNames.SAY, "After");
                rig.stub(thread).signal("nope");
                rig.resume();

                Timeline timeline =
                        rig.awaitTimeline(thread, now -> now.ending().isPresent());

                assertThat(timeline.ending().get().kind()).isEqualTo(RunEnding.Kind.CANCELLED);
                assertThat(timeline.now().queue()).hasSize(before);
                assertThat(timeline.now().ignored().count()).isEqualTo(2);
                checkPrefixes(rig, thread);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"batch", "ask", "plain"})
    void cancel_atAnyPoint_closesCancelledAndAgrees(String wish) {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            for (int facts : List.of(0, 3, 4, 5, 7, 9)) {
                String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", wish)));
                rig.await(thread, now -> now.counters().facts() >= facts || now.isSettled());
                rig.stub(thread).signal(SignalNames.SAY, "At the same time");

                rig.stub(thread).cancel();

                Timeline timeline =
                        rig.awaitTimeline(thread, now -> now.ending().isPresent());
                assertThat(timeline.ending().get().kind()).isEqualTo(RunEnding.Kind.CANCELLED);
                assertThat(timeline.now().openCalls()).isEmpty();
                assertThat(timeline.now().turn().isRunning()).isFalse();
                checkPrefixes(rig, thread);
            }
        }
    }

    @Test
    void worker_replacedAtManyPoints_changesNothing() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            for (int facts : List.of(2, 4, 6, 8)) {
                String thread =
                        rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "batch of three")));
                rig.await(thread, now -> now.counters().facts() >= facts);

                rig.replaceWorker();

                Conversation state = rig.awaitSettled(thread);
                assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
                assertThat(state.transcript().messages()).hasSize(4);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everybodyAtOnce_settlesAndAgreesAtEveryPrefix(long seed) throws Exception {
        int people = 4;
        int wishes = 12;
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, weather())) {
            boolean movesOn = seed == 2;
            StartInput start =
                    movesOn ? StartInput.of("a").withLimits(RunLimits.DEFAULT.withSoftEvents(40)) : StartInput.of("a");
            String thread = rig.start(start.saying(PersonFact.UserSpoke.message("m-1", "batch of three")));
            ExecutorService pool = Executors.newFixedThreadPool(people);
            try {
                List<Future<?>> talking = new ArrayList<>();
                for (int i = 0; i < people; i++) {
                    Random random = new Random(seed * 100 + i);
                    String name = "p" + i;
                    talking.add(pool.submit(() -> {
                        for (int n = 0; n < wishes; n++) {
                            actAtRandom(rig, thread, random, name + "-" + n);
                        }
                    }));
                }
                for (Future<?> one : talking) {
                    one.get(60, TimeUnit.SECONDS);
                }
            } finally {
                pool.shutdownNow();
            }
            Conversation settled = rig.await(thread, now -> now.isSettled());
            assertThat(settled.counters().facts()).isGreaterThan(people * wishes / 2);
            rig.check(thread);
            checkPrefixes(rig, thread);
            assertThat(rig.audit(thread).mismatches()).isEmpty();
        }
    }

    private static void actAtRandom(WorkflowRig rig, String thread, Random random, String id) {
        String wish = List.of("batch", "ask", "plain").get(random.nextInt(3)) + " " + id;
        WorkflowStub stub = rig.stub(thread);
        try {
            switch (random.nextInt(9)) {
                case 0, 1 -> stub.signal(SignalNames.SAY, Map.of("id", id, "content", wish));
                case 2, 3 -> rig.update(thread, SignalNames.SAY, Map.of("id", id, "content", wish));
                case 4 -> rig.update(thread, SignalNames.STOP, Map.of("by", id));
                case 5 -> stub.signal(SignalNames.STOP);
                case 6 -> rig.update(thread, SignalNames.ANSWER, "Answer " + id);
                case 7 -> stub.signal(SignalNames.ANSWER, Map.of("answer", "Signal " + id));
                default -> rig.update(thread, SignalNames.CLEAR, Map.of("by", id));
            }
        } catch (WorkflowUpdateException | WorkflowServiceException e) {
            // The update was refused in the current state.
        }
    }
}
