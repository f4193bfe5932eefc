package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.ResetReapplyExcludeType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the guide says about signatures and resets. */
@Tag("full")
@Tag("server")
@Timeout(300)
class SignatureAfterResetServerTest {
    private static final WorkflowExecution TRIP =
            WorkflowExecution.newBuilder().setWorkflowId("trip").build();

    @TempDir
    private Path directory;

    @Test
    void signature_isValidAgain_afterAResetThatLeavesItsDecisionOut() throws Exception {
        String key = directory.resolve("ann.pem").toString();
        Command.Done made = Command.at("127.0.0.1:1").run("keygen", key);
        new Agents(directory).signed("ann: \"" + made.out().strip() + "\"");
        try (Dev dev = Dev.durable(directory);
                Connection connection = Connection.to(dev.address());
                AgentClient client = AgentClient.connect(dev.address())) {
            Command waymark = Command.warmAt(dev.address());
            assertThat(waymark.run("run", "--agent", "billing", "--thread", "trip", "Pay")
                            .exitCode())
                    .isZero();
            JsonNode first = waymark.run("pending", "trip", "--json").json().get(0);
            // Its task is a point between the request and the decision.
            client.send("trip", OutboundMessage.message("Well?"));
            long task = newestTask(connection);
            assertThat(waymark.run("approve", "trip", "--key", key).exitCode()).isZero();
            PersonFact.ApprovalDecided signed = client.timeline("trip").moments().stream()
                    .flatMap(moment -> moment.fact().stream())
                    .flatMap(fact -> fact instanceof PersonFact.ApprovalDecided decided
                            ? Optional.of(decided).stream()
                            : Optional.<PersonFact.ApprovalDecided>empty().stream())
                    .findFirst()
                    .orElseThrow();

            reset(connection, task);
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(
                                    waymark.run("pending", "trip", "--json").json())
                            .singleElement()
                            .isEqualTo(first));
            // Somebody who can read the history, and has no key.
            connection
                    .client()
                    .newUntypedWorkflowStub("trip")
                    .signal(
                            SignalNames.APPROVE,
                            Map.of(
                                    "callId",
                                    "tu_1",
                                    "by",
                                    "ann",
                                    "signature",
                                    signed.signature().orElseThrow()));

            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(waymark.run("calls", "trip", "--json")
                                    .json()
                                    .at("/0/approval/by")
                                    .asText())
                            .isEqualTo("ann"));
            assertThat(waymark.run("show", "trip", "--json").json().path("ignored"))
                    .isEmpty();
        }
    }

    private static long newestTask(Connection connection) {
        return connection
                .stubs()
                .blockingStub()
                .getWorkflowExecutionHistory(GetWorkflowExecutionHistoryRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(TRIP)
                        .build())
                .getHistory()
                .getEventsList()
                .stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                .mapToLong(HistoryEvent::getEventId)
                .max()
                .orElseThrow();
    }

    private static void reset(Connection connection, long task) {
        connection
                .stubs()
                .blockingStub()
                .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setWorkflowExecution(TRIP)
                        .setWorkflowTaskFinishEventId(task)
                        .addResetReapplyExcludeTypes(ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE)
                        .setRequestId(UUID.randomUUID().toString())
                        .setReason("a test")
                        .build());
    }
}
