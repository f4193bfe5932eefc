package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.VerifyInput;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.worker.AgentWorker;
import io.temporal.activity.ActivityOptions;
import io.temporal.activity.DynamicActivity;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.RetryOptions;
import io.temporal.common.converter.EncodedValues;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerOptions;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A current worker next to another version, whose threads use rules that the current worker does not know. */
@Tag("full")
class UnknownRulesTest {
    private static final int NEWER = ThreadIdentity.RULES + 1;
    private static final int OLDER = ThreadIdentity.FIRST_RULES - 1;

    private static final String DONE = "done by tomorrow's worker";

    /** A possible later version of Waymark: the same names, with newer rules. */
    @WorkflowInterface
    public interface TomorrowsAgent {
        @WorkflowMethod(name = WireNames.WORKFLOW_TYPE)
        List<String> run(Map<String, Object> input);
    }

    /** Runs one activity until it succeeds. Returns the failure type of each failed attempt, and then the result. */
    public static final class TomorrowsAgentImpl implements TomorrowsAgent {
        @Override
        public List<String> run(Map<String, Object> input) {
            String activity = String.valueOf(input.get("agent"));
            int rules = (Integer) input.get("rules");
            ActivityOptions options = ActivityOptions.newBuilder()
                    .setStartToCloseTimeout(Duration.ofSeconds(30))
                    .setDisableEagerExecution(true)
                    .setRetryOptions(RetryOptions.newBuilder()
                            .setMaximumAttempts(activity.equals("charge") ? 1 : 0)
                            .setMaximumInterval(Duration.ofSeconds(1))
                            .build())
                    .build();
            List<String> tries = new ArrayList<>();
            while (!tries.contains(DONE) && tries.size() < 100) {
                try {
                    tries.add(Workflow.newUntypedActivityStub(options)
                            .execute(activity, String.class, input(activity, rules)));
                } catch (ActivityFailure failure) {
                    tries.add(((ApplicationFailure) failure.getCause()).getType());
                    Workflow.sleep(Duration.ofMillis(200));
                }
            }
            return tries;
        }

        private static Object input(String activity, int rules) {
            String run = Workflow.getInfo().getRunId();
            return switch (activity) {
                case WireNames.AGENT_ACTIVITY -> new AgentInput("helper", rules);
                case WireNames.MODEL_ACTIVITY ->
                    ModelInput.of(Rules.start(
                            new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()),
                            Instant.EPOCH));
                case WireNames.VERIFY_ACTIVITY ->
                    new VerifyInput("a", 1, "charge", Json.EMPTY_OBJECT, 0, 0, Optional.empty());
                default ->
                    new ToolInput(
                            "a",
                            1,
                            Json.EMPTY_OBJECT,
                            Optional.of(run),
                            0,
                            Optional.empty(),
                            Optional.empty(),
                            List.of(),
                            Optional.empty());
            };
        }
    }

    /** Accepts every activity. */
    private static final class TomorrowsActivities implements DynamicActivity {
        @Override
        public Object execute(EncodedValues input) {
            return DONE;
        }
    }

    static Stream<Arguments> work() {
        return Stream.of(NEWER, OLDER)
                .flatMap(rules -> Stream.of(
                                WireNames.AGENT_ACTIVITY, WireNames.MODEL_ACTIVITY, WireNames.VERIFY_ACTIVITY, "charge")
                        .map(activity -> Arguments.of(activity, rules)));
    }

    @ParameterizedTest
    @MethodSource("work")
    void workOfAThreadWithUnknownRules_isLeftToTheWorkerThatKnowsThem(String activity, int rules) throws Exception {
        Connection connection = TestServers.inMemory();
        String queue = "tomorrow-" + UUID.randomUUID();
        WorkerFactory tomorrow = WorkerFactory.newInstance(connection.client());
        tomorrow.newWorker(
                        queue,
                        WorkerOptions.newBuilder()
                                .setLocalActivityWorkerOnly(true)
                                .build())
                .registerWorkflowImplementationTypes(TomorrowsAgentImpl.class);
        WorkerFactory tomorrowsActivities = WorkerFactory.newInstance(connection.client());
        Worker knows = tomorrowsActivities.newWorker(queue);
        knows.registerActivitiesImplementations(new TomorrowsActivities());
        try (AgentWorker today =
                AgentWorker.builder(connection.client()).taskQueue(queue).build()) {
            tomorrow.start();
            WorkflowStub thread = thread(connection, queue);
            thread.start(input(activity, rules));
            // The future worker has taken the workflow with its first task. The current worker can only get its
            // activities.
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> hasScheduled(connection, queue));
            today.start();
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> wasLeft(connection, queue, activity));
            tomorrowsActivities.start();

            List<?> tries = thread.getResult(List.class);

            assertThat(tries).last().isEqualTo(DONE);
            assertThat(tries.subList(0, tries.size() - 1)).allMatch(ProblemType.UNKNOWN_RULES::equals);
        } finally {
            tomorrow.shutdownNow();
            tomorrowsActivities.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {NEWER, OLDER})
    void threadWithUnknownRules_isNotTouched(int rules) throws Exception {
        Connection connection = TestServers.inMemory();
        String queue = "unknown-" + UUID.randomUUID();
        try (AgentWorker today =
                AgentWorker.builder(connection.client()).taskQueue(queue).build()) {
            today.start();
            WorkflowStub thread = thread(connection, queue);
            thread.start(input("helper", rules));

            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(refusals(connection, queue))
                            .anyMatch(message -> message.contains("this thread goes by rules " + rules)));
            assertThat(hasScheduled(connection, queue)).isFalse();
            assertThat(thread.describe().getStatus())
                    .isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING);
            thread.terminate("nobody knows its rules");
        }
    }

    private static WorkflowStub thread(Connection connection, String queue) {
        return connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(queue)
                                .setWorkflowId(queue)
                                .build());
    }

    private static List<String> refusals(Connection connection, String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .filter(HistoryEvent::hasWorkflowTaskFailedEventAttributes)
                .map(event -> event.getWorkflowTaskFailedEventAttributes()
                        .getFailure()
                        .toString())
                .toList();
    }

    private static StartInput input(String agent, int rules) {
        StartInput today = StartInput.of(agent);
        return new StartInput(
                rules,
                today.agent(),
                today.once(),
                today.maxIterations(),
                today.say(),
                today.limits(),
                today.carried(),
                today.context(),
                today.parent(),
                Optional.empty(),
                today.owner(),
                Optional.empty(),
                today.inChunks(),
                Optional.empty());
    }

    private static boolean hasScheduled(Connection connection, String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .anyMatch(event -> event.hasActivityTaskScheduledEventAttributes());
    }

    /** Whether the current worker has received the activity and reported why it did not run it. */
    private static boolean wasLeft(Connection connection, String thread, String activity) {
        var described = connection
                .stubs()
                .blockingStub()
                .describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                        .build());
        boolean isRetried = described.getPendingActivitiesList().stream()
                .map(PendingActivityInfo::getLastFailure)
                .anyMatch(
                        failure -> failure.getApplicationFailureInfo().getType().equals(ProblemType.UNKNOWN_RULES));
        return isRetried
                || connection.client().fetchHistory(thread).getEvents().stream()
                        .filter(event -> event.hasActivityTaskFailedEventAttributes())
                        .anyMatch(event -> event.getActivityTaskFailedEventAttributes()
                                .getFailure()
                                .getApplicationFailureInfo()
                                .getType()
                                .equals(ProblemType.UNKNOWN_RULES));
    }
}
