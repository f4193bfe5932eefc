package dev.waymark.e2e.examples;

import dev.waymark.workflow.AgentOutcome;
import dev.waymark.workflow.AgentService;
import dev.waymark.workflow.AgentTask;
import io.temporal.workflow.NexusServiceOptions;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** A workflow that reaches the agents of another team by a Nexus endpoint. */
@WorkflowInterface
public interface RemoteTable {
    @WorkflowMethod
    String close(int table);

    final class Steps implements RemoteTable {
        private final AgentService agents = Workflow.newNexusServiceStub(
                AgentService.class,
                NexusServiceOptions.newBuilder().setEndpoint("agents").build());

        @Override
        public String close(int table) {
            AgentOutcome outcome = agents.run(
                    AgentTask.of("billing", "Settle the bill of table " + table).withThread("remote-" + table));
            return outcome.status() + ": " + outcome.text();
        }
    }
}
