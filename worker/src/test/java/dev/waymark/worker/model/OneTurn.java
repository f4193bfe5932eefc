package dev.waymark.worker.model;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.util.UUID;

/** A thread that sends one message to an agent and closes after the reply. */
final class OneTurn {
    private OneTurn() {}

    static WorkflowStub start(Connection connection, String taskQueue, String agent) {
        WorkflowStub thread = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(taskQueue)
                                .setWorkflowId("thread-" + UUID.randomUUID())
                                .build());
        thread.start(StartInput.of(agent)
                .saying(PersonFact.UserSpoke.message("m1", "Hi"))
                .closingAfterOneTurn());
        return thread;
    }
}
