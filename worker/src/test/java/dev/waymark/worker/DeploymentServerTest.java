package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.history.HistoryReader;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.workflow.TestServers;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.RoutingConfigUpdateState;
import io.temporal.api.workflowservice.v1.DescribeWorkerDeploymentRequest;
import io.temporal.api.workflowservice.v1.SetWorkerDeploymentCurrentVersionRequest;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Workers of two builds: only the current build gets work, and open threads move to it. */
@Tag("server")
@Tag("full")
class DeploymentServerTest {
    private final String name = "deployment-" + UUID.randomUUID();
    private final Connection server = TestServers.real();

    private AgentWorker worker(String buildId) {
        AgentWorker worker = AgentWorker.builder(server.client())
                .taskQueue(name)
                .agents(AgentSpec.of("a", "fake:model"))
                .providers(ModelProviders.of(Map.of("fake", request -> Reply.of(new Part.Text("From " + buildId)))))
                .deployment(name, buildId)
                .build();
        worker.start();
        return worker;
    }

    /**
     * Makes a build current. Retries, because the server learns of a version only when its first worker polls, and
     * waits until all task queues know: since 1.32, the server tells them only after its answer.
     */
    private void makeCurrent(String buildId) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .ignoreExceptionsMatching(e -> e instanceof StatusRuntimeException status
                        && (status.getStatus().getCode() == Status.Code.NOT_FOUND
                                || status.getStatus().getCode() == Status.Code.FAILED_PRECONDITION))
                .until(() -> server.stubs()
                        .blockingStub()
                        .setWorkerDeploymentCurrentVersion(SetWorkerDeploymentCurrentVersionRequest.newBuilder()
                                .setNamespace(server.namespace())
                                .setDeploymentName(name)
                                .setBuildId(buildId)
                                .setIdentity("test")
                                .build())
                        .isInitialized());
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> server.stubs()
                                .blockingStub()
                                .describeWorkerDeployment(DescribeWorkerDeploymentRequest.newBuilder()
                                        .setNamespace(server.namespace())
                                        .setDeploymentName(name)
                                        .build())
                                .getWorkerDeploymentInfo()
                                .getRoutingConfigUpdateState()
                        != RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS);
    }

    private void awaitReply(String thread, String text) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(40))
                .untilAsserted(() -> assertThat(new HistoryReader(server.client())
                                .read(thread)
                                .orElseThrow()
                                .now()
                                .turn()
                                .text())
                        .isEqualTo(text));
    }

    private static void awaitIdle(AgentWorker worker, String reason) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(worker.idleReason()).contains(reason));
    }

    @Test
    void openThread_movesToTheCurrentVersionAndOtherWorkersReportIdleness() {
        try (AgentWorker first = worker("build-1")) {
            makeCurrent("build-1");
            WorkflowStub thread = server.client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(name)
                                    .setWorkflowId(name)
                                    .build());
            thread.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            awaitReply(name, "From build-1");

            try (AgentWorker second = worker("build-2")) {
                awaitIdle(
                        second,
                        "build build-2 of deployment " + name + " gets no work: it is not the current version;"
                                + " build build-1 of deployment " + name
                                + " is. To make it current: temporal worker deployment"
                                + " set-current-version --deployment-name " + name + " --build-id build-2");
                makeCurrent("build-2");
                thread.signal(SignalNames.SAY, "Again");
                awaitReply(name, "From build-2");
                awaitIdle(
                        first,
                        "build build-1 of deployment " + name + " gets no work: it is not the current version;"
                                + " build build-2 of deployment " + name
                                + " is. To make it current: temporal worker deployment"
                                + " set-current-version --deployment-name " + name + " --build-id build-1");
                Awaitility.await()
                        .atMost(Duration.ofMinutes(1))
                        .until(() -> second.idleReason().isEmpty());
            }
        }
    }
}
