package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.StateChunkInput;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DeleteWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import io.temporal.client.WorkflowFailedException;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptor;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import io.temporal.failure.ApplicationFailure;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What operators and crashes do to threads whose state is fetched in chunks. */
@Tag("server")
@Tag("full")
@Timeout(300)
class ChunkedStateOperationsServerTest {
    /** The index of the fetch at which the worker process hangs. */
    private static final int HELD = 2;

    private static final int STEPS = 5;
    private static final int NOISE = 250_000;
    /** With these limits, a run continues as new after about four megabytes of results. */
    private static final RunLimits FETCHED = ChunkedStateCases.NOTHING_INLINE.withSoftEvents(120);

    private static ModelProvider model() {
        return ChunkedStateCases.fourCallsATime(STEPS);
    }

    private static JavaTool<?> step() {
        return ChunkedStateCases.noisyStep(NOISE);
    }

    /** The calls run in separate activities, so there are enough events for a second run. */
    private static WorkflowRig rig(Connection connection) {
        return new WorkflowRig(connection, model(), step()).with(agent -> agent.fuse(Duration.ZERO));
    }

    private static String start(WorkflowRig rig) {
        return rig.start(ContinueAsNewCases.start(FETCHED).saying(PersonFact.UserSpoke.message("m-1", "Go")));
    }

    private static Timeline awaitEnd(WorkflowRig rig, String thread) {
        Timeline timeline =
                ChunkedStateCases.awaitLarge(rig, thread, now -> now.now().isSettled() && isUpToDate(now));
        Conversation state = timeline.now();
        assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(state.transcript().messages()).hasSize(2 * STEPS + 2);
        assertThat(state.transcript()
                        .messages()
                        .get(2 * STEPS)
                        .toolResults()
                        .get(3)
                        .content())
                .isEqualTo(ChunkedStateCases.noise("n" + (STEPS - 1) + ".3", NOISE));
        ContinueAsNewCases.assertFactsAreConsecutive(timeline, state);
        assertThat(rig.audit(thread).mismatches()).isEmpty();
        return timeline;
    }

    /** Whether the workflow has processed everything that has arrived. */
    private static boolean isUpToDate(Timeline timeline) {
        List<Moment> moments = timeline.moments();
        return moments.get(moments.size() - 1).state().equals(timeline.now());
    }

    private static DescribeWorkflowExecutionResponse describe(WorkflowRig rig, String thread, String runId) {
        return rig.connection()
                .stubs()
                .blockingStub()
                .describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                        .setNamespace(rig.connection().namespace())
                        .setExecution(execution(thread, runId))
                        .build());
    }

    private static WorkflowExecution execution(String thread, String runId) {
        return WorkflowExecution.newBuilder()
                .setWorkflowId(thread)
                .setRunId(runId)
                .build();
    }

    private static List<HistoryEvent> stored(String thread, String runId) {
        return TestServers.real().client().fetchHistory(thread, runId).getEvents();
    }

    private static List<HistoryEvent> ofType(EventType type, List<HistoryEvent> events) {
        return events.stream().filter(event -> event.getEventType() == type).toList();
    }

    /** The results of the fetches of a run, in order. */
    private static List<Payload> chunks(List<HistoryEvent> events) {
        return ofType(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, events).stream()
                .map(HistoryEvent::getActivityTaskCompletedEventAttributes)
                .filter(completed -> isFetch(events.get((int) completed.getScheduledEventId() - 1)))
                .map(completed -> completed.getResult().getPayloads(0))
                .toList();
    }

    private static boolean isFetch(HistoryEvent scheduled) {
        return scheduled
                .getActivityTaskScheduledEventAttributes()
                .getActivityType()
                .getName()
                .equals(WireNames.STATE_ACTIVITY);
    }

    /** A worker that fetches two chunks, computes the third one, and then hangs. */
    static final class HalfFetching {
        public static void main(String[] args) throws Exception {
            AgentWorker.builder(Connection.to(args[0]).client())
                    .taskQueue(args[1])
                    .agents(AgentSpec.of("a", "fake:model", step().spec())
                            .with()
                            .fuse(Duration.ZERO)
                            .build())
                    .providers(ModelProviders.of(Map.of("fake", model())))
                    .tools(JavaTools.of(step()))
                    .interceptors(new WorkerInterceptorBase() {
                        @Override
                        public ActivityInboundCallsInterceptor interceptActivity(ActivityInboundCallsInterceptor next) {
                            return new Staying(next);
                        }
                    })
                    .build()
                    .start();
            WorkerProcess.work();
        }
    }

    private static final class Staying extends ActivityInboundCallsInterceptorBase {
        Staying(ActivityInboundCallsInterceptor next) {
            super(next);
        }

        @Override
        public ActivityOutput execute(ActivityInput input) {
            ActivityOutput output = super.execute(input);
            if (input.getArguments()[0] instanceof StateChunkInput chunk && chunk.index() == HELD) {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return output;
        }
    }

    @Test
    void workerKilledWhileFetching_anotherOneFetchesTheRest() throws Exception {
        try (WorkflowRig rig = rig(TestServers.real())) {
            rig.suspend();
            String thread;
            try (WorkerProcess killed =
                    WorkerProcess.start(HalfFetching.class, TestServers.real().address(), rig.taskQueue())) {
                thread = start(rig);
                Awaitility.await()
                        .atMost(120, TimeUnit.SECONDS)
                        .until(() -> chunks(stored(thread, "")).size() == HELD
                                && describe(rig, thread, "").getPendingActivitiesList().stream()
                                        .anyMatch(ChunkedStateOperationsServerTest::isBeingFetched));
            }
            assertThat(chunks(stored(thread, ""))).hasSize(HELD);
            rig.resume();

            Timeline timeline = awaitEnd(rig, thread);

            List<String> runs = ContinueAsNewCases.runs(timeline);
            assertThat(runs).hasSizeGreaterThanOrEqualTo(2);
            List<HistoryEvent> second = stored(thread, runs.get(1));
            assertThat(chunks(second)).hasSizeGreaterThan(HELD);
            assertThat(ofType(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED, second).stream()
                            .map(HistoryEvent::getActivityTaskStartedEventAttributes)
                            .filter(started -> isFetch(second.get((int) started.getScheduledEventId() - 1)))
                            .map(started -> started.getAttempt() > 1)
                            .limit(HELD + 1))
                    .as("only the third fetch was repeated")
                    .containsExactly(false, false, true);
        }
    }

    private static boolean isBeingFetched(PendingActivityInfo activity) {
        return activity.getActivityType().getName().equals(WireNames.STATE_ACTIVITY)
                && activity.getState() == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
    }

    @Test
    void encryptedState_isFetchedInEncryptedChunks() throws Exception {
        String keys = "k1:" + Base64.getEncoder().encodeToString(new byte[32]);
        Connection plain = TestServers.real();
        Connection encrypting =
                Connection.over(plain.stubs(), plain.namespace(), Map.of(EncryptionKeys.VARIABLE, keys));
        try (WorkflowRig rig = rig(encrypting)) {
            String thread = start(rig);

            Timeline timeline = awaitEnd(rig, thread);

            List<String> runs = ContinueAsNewCases.runs(timeline);
            assertThat(runs).hasSizeGreaterThanOrEqualTo(2);
            List<HistoryEvent> second = stored(thread, runs.get(1));
            assertThat(chunks(second)).hasSizeGreaterThan(2).allMatch(EncryptionCodec::isEncrypted);
            assertThat(second)
                    .noneMatch(event -> new String(event.toByteArray(), StandardCharsets.ISO_8859_1)
                            .contains(ChunkedStateCases.noise("n0.0", NOISE).substring(0, 30)));
            assertThatThrownBy(() -> new HistoryReader(plain.client()).read(thread))
                    .isInstanceOf(KeyProblem.class);
        }
    }

    @Test
    void reset_toAPointAfterTheChunks_continuesWithTheFetchedState() {
        try (WorkflowRig rig = rig(TestServers.real())) {
            String thread = start(rig);
            Timeline before = awaitEnd(rig, thread);
            String newest = before.runId();
            int fetched = rig.fetchesOfStates();
            int chunks = chunks(stored(thread, newest)).size();
            assertThat(chunks).isGreaterThan(2);

            String again = reset(rig, thread, newest, lastCompletedTask(thread, newest));

            Timeline after = awaitEnd(rig, thread);
            assertThat(after.runId()).isEqualTo(again);
            assertThat(after.now().transcript().digest())
                    .isEqualTo(before.now().transcript().digest());
            assertThat(chunks(stored(thread, again))).hasSize(chunks);
            assertThat(rig.fetchesOfStates()).isEqualTo(fetched);
        }
    }

    /** The work of the abandoned run is gone, and the rest of the turn runs again. */
    @Test
    void reset_toAPointInThePreviousRun_continuesFromThere() {
        try (WorkflowRig rig = rig(TestServers.real())) {
            String thread = start(rig);
            Timeline before = awaitEnd(rig, thread);
            List<String> runs = ContinueAsNewCases.runs(before);
            List<HistoryEvent> tasks =
                    ofType(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, stored(thread, runs.get(0)));

            String again =
                    reset(rig, thread, runs.get(0), tasks.get(tasks.size() / 2).getEventId());

            Timeline after = awaitEnd(rig, thread);
            List<String> now = ContinueAsNewCases.runs(after);
            assertThat(now.get(0)).isEqualTo(again);
            assertThat(now).doesNotContainAnyElementsOf(runs);
            assertThat(now).hasSizeGreaterThanOrEqualTo(2);
            assertThat(chunks(stored(thread, now.get(1)))).hasSizeGreaterThan(2);
        }
    }

    private static long lastCompletedTask(String thread, String runId) {
        List<HistoryEvent> tasks = ofType(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, stored(thread, runId));
        return tasks.get(tasks.size() - 1).getEventId();
    }

    private static String reset(WorkflowRig rig, String thread, String runId, long eventId) {
        return rig.connection()
                .stubs()
                .blockingStub()
                .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                        .setNamespace(rig.connection().namespace())
                        .setWorkflowExecution(execution(thread, runId))
                        .setWorkflowTaskFinishEventId(eventId)
                        .setRequestId(UUID.randomUUID().toString())
                        .setReason("a test")
                        .build())
                .getRunId();
    }

    @Test
    void previousRunDeletedBeforeItsStateIsFetched_failsTheThread() {
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), AgentWorkflowCases::echo)) {
            String thread = ChunkedStateCases.waitingForItsState(rig);
            rig.disown(thread);
            String previous = stored(thread, "")
                    .get(0)
                    .getWorkflowExecutionStartedEventAttributes()
                    .getContinuedExecutionRunId();
            delete(rig, thread, previous);
            String words = "the server no longer has run " + previous
                    + ", which this run continues, and its state was not carried over yet";

            assertThatThrownBy(() -> rig.timeline(thread))
                    .isInstanceOf(PreviousRunGoneException.class)
                    .hasMessage(words);
            rig.releaseStates();

            assertThatThrownBy(() -> rig.stub(thread).getResult(120, TimeUnit.SECONDS, Void.class))
                    .isInstanceOf(WorkflowFailedException.class)
                    .rootCause()
                    .asInstanceOf(InstanceOfAssertFactories.type(ApplicationFailure.class))
                    .satisfies(failure -> {
                        assertThat(failure.getType()).isEqualTo(ProblemType.PREVIOUS_RUN_GONE);
                        assertThat(failure.getOriginalMessage()).isEqualTo(words);
                    });
            assertThat(rig.fetchesOfStates()).isEqualTo(WorkflowRig.ATTEMPTS_TO_FIND_RUN);
            assertThatThrownBy(() -> rig.timeline(thread)).hasMessage(words);
        }
    }

    private static void delete(WorkflowRig rig, String thread, String runId) {
        rig.connection()
                .stubs()
                .blockingStub()
                .deleteWorkflowExecution(DeleteWorkflowExecutionRequest.newBuilder()
                        .setNamespace(rig.connection().namespace())
                        .setWorkflowExecution(execution(thread, runId))
                        .build());
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> {
            try {
                stored(thread, runId);
                return false;
            } catch (StatusRuntimeException e) {
                return ServerAnswer.GONE.is(e);
            }
        });
    }
}
