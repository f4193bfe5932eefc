package dev.waymark.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import io.nexusrpc.handler.OperationHandler;
import io.nexusrpc.handler.OperationImpl;
import io.nexusrpc.handler.ServiceImpl;
import io.temporal.client.WorkflowOptions;
import io.temporal.nexus.Nexus;
import io.temporal.nexus.WorkflowHandle;
import io.temporal.nexus.WorkflowRunOperation;

/** Carries out {@link AgentService}. Can also be registered at a worker of another task queue than the agents'. */
@ServiceImpl(service = AgentService.class)
public final class AgentServiceHandler {
    private final String taskQueue;

    /** @param taskQueue the task queue of the workers that run the agents */
    public AgentServiceHandler(String taskQueue) {
        this.taskQueue = taskQueue;
    }

    /** Starts a thread, and returns its result once it ends. The server sends a request again with the same id. */
    @OperationImpl
    public OperationHandler<AgentTask, AgentOutcome> run() {
        return WorkflowRunOperation.fromWorkflowHandle((context, details, task) -> WorkflowHandle.fromWorkflowStub(
                Nexus.getOperationContext()
                        .getWorkflowClient()
                        .newUntypedWorkflowStub(
                                WireNames.WORKFLOW_TYPE,
                                WorkflowOptions.newBuilder()
                                        .setWorkflowId(task.thread().orElseGet(() -> "nexus-" + details.getRequestId()))
                                        .setTaskQueue(taskQueue)
                                        .build()),
                AgentOutcome.class,
                PayloadJson.MAPPER.<JsonNode>valueToTree(task.start().closingAfterOneTurn())));
    }
}
