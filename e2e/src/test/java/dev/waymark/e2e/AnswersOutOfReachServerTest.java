package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.e2e.product.PlainServer;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.workflow.DynamicUpdateHandler;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers to threads of a newer version, and to threads whose workers fail. */
@Tag("full")
@Tag("server")
@Timeout(120)
class AnswersOutOfReachServerTest {
    private static final String QUEUE = WireNames.TASK_QUEUE;

    /** A possible later version of Waymark: the same names, with newer rules. */
    @WorkflowInterface
    public interface TomorrowsAgent {
        @WorkflowMethod(name = WireNames.WORKFLOW_TYPE)
        void run(Map<String, Object> input);
    }

    /** Records every update. */
    public static final class TakingAgent implements TomorrowsAgent {
        @Override
        public void run(Map<String, Object> input) {
            Workflow.registerListener((DynamicUpdateHandler) (name, payload) -> new Ack(1, false));
            Workflow.await(() -> false);
        }
    }

    /** Fails each of its workflow tasks. */
    public static final class FailingAgent implements TomorrowsAgent {
        @Override
        public void run(Map<String, Object> input) {
            throw new IllegalStateException("a bug of this build");
        }
    }

    @SuppressWarnings("unchecked")
    private static WorkerFactory begin(Connection connection, Class<?> agent, int rules) {
        WorkerFactory workers = WorkerFactory.newInstance(connection.client());
        workers.newWorker(QUEUE).registerWorkflowImplementationTypes(agent);
        workers.start();
        Map<String, Object> input = PayloadJson.MAPPER.convertValue(StartInput.of("helper"), Map.class);
        input.put("rules", rules);
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(QUEUE)
                                .setWorkflowId("trip")
                                .build())
                .start(input);
        return workers;
    }

    private static void awaitEvent(Connection connection, Predicate<HistoryEvent> event) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> connection.client().fetchHistory("trip").getEvents().stream()
                        .anyMatch(event));
    }

    @Test
    void answer_threadWithNewerRules_saysThatItWasRecorded() throws Exception {
        try (PlainServer server = PlainServer.start();
                Connection connection = server.connect();
                AgentClient client = AgentClient.connect(server.address())) {
            WorkerFactory workers = begin(connection, TakingAgent.class, ThreadIdentity.RULES + 1);
            try {
                // An update in the first workflow task would not find its handler.
                awaitEvent(connection, HistoryEvent::hasWorkflowTaskCompletedEventAttributes);

                assertThat(catchThrowableOfType(
                                WaymarkException.class,
                                () -> client.send("trip", OutboundMessage.answer("Friday"))
                                        .await()))
                        .isInstanceOf(WaymarkException.OutcomeUnreadable.class)
                        .returns("UnknownRules", WaymarkException::type)
                        .hasMessageStartingWith("the answer was recorded in trip, but its outcome can't be read here: ")
                        .hasMessageEndingWith("Use a newer version.");
            } finally {
                workers.shutdownNow();
            }
        }
    }

    @Test
    void answer_threadWithFailingWorkers_pointsToTheirLog() throws Exception {
        try (PlainServer server = PlainServer.start();
                Connection connection = server.connect();
                AgentClient client = AgentClient.connect(server.address())) {
            WorkerFactory workers = begin(connection, FailingAgent.class, ThreadIdentity.RULES);
            try {
                awaitEvent(connection, HistoryEvent::hasWorkflowTaskFailedEventAttributes);

                WaymarkException failure = catchThrowableOfType(
                        WaymarkException.class, () -> client.send("trip", OutboundMessage.answer("Friday")));

                assertThat(failure)
                        .isInstanceOf(WaymarkException.NoWorker.class)
                        .hasMessage("the workers fail at the work of trip, and have not taken the answer");
                assertThat(failure.remedy().toString()).startsWith("Look at the log of the workers");
            } finally {
                workers.shutdownNow();
            }
        }
    }
}
