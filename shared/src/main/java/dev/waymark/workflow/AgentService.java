package dev.waymark.workflow;

import io.nexusrpc.Operation;
import io.nexusrpc.Service;

/**
 * Agents as a Nexus service, for workflows of other namespaces and other programs.
 *
 * <p>The operation ends when the turn of its thread ends, be it after weeks; people decide in the thread meanwhile.
 * Cancelling the operation cancels the thread. Workers offer the service with {@code AgentWorker.Builder.nexus()}.
 *
 * <pre>{@code
 * AgentService agents = Workflow.newNexusServiceStub(
 *         AgentService.class, NexusServiceOptions.newBuilder().setEndpoint("agents").build());
 * AgentOutcome outcome = agents.run(AgentTask.of("billing", "Settle the bill of table nine"));
 * }</pre>
 */
@Service
public interface AgentService {
    /** Starts a thread for this task, which closes when its turn ends, and returns how the turn ended. */
    @Operation
    AgentOutcome run(AgentTask task);
}
