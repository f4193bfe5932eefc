package dev.waymark.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import io.nexusrpc.handler.OperationHandler;
import io.nexusrpc.handler.OperationImpl;
import io.nexusrpc.handler.ServiceImpl;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.nexus.Nexus;
import io.temporal.nexus.WorkflowHandle;
import io.temporal.nexus.WorkflowRunOperation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Carries out {@link AgentService}. Can also be registered at a worker of another task queue than the agents'. */
@ServiceImpl(service = AgentService.class)
public final class AgentServiceHandler {
    private final String taskQueue;
    /** The worker's, once the first operation has come. */
    private @Nullable Connection server;

    /** @param taskQueue the task queue of the workers that run the agents */
    public AgentServiceHandler(String taskQueue) {
        this.taskQueue = taskQueue;
    }

    /** Starts a thread, and returns its result once it ends. The server sends a request again with the same id. */
    @OperationImpl
    public OperationHandler<AgentTask, AgentOutcome> run() {
        return WorkflowRunOperation.fromWorkflowHandle((context, details, task) -> {
            WorkflowClient client = Nexus.getOperationContext().getWorkflowClient();
            WorkflowOptions.Builder options = WorkflowOptions.newBuilder()
                    .setWorkflowId(task.thread().orElseGet(() -> "nexus-" + details.getRequestId()))
                    .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                    .setTaskQueue(taskQueue);
            if (server(client).isIndexed()) {
                options.setTypedSearchAttributes(task.searchAttributes());
            }
            return WorkflowHandle.fromWorkflowStub(
                    client.newUntypedWorkflowStub(WireNames.WORKFLOW_TYPE, options.build()),
                    AgentOutcome.class,
                    PayloadJson.MAPPER.<JsonNode>valueToTree(task.start().closingAfterOneTurn()));
        });
    }

    private synchronized Connection server(WorkflowClient client) {
        if (server == null) {
            server = Connection.over(
                    client.getWorkflowServiceStubs(), client.getOptions().getNamespace(), Map.of());
        }
        return server;
    }
}
