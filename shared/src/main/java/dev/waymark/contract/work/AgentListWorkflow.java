package dev.waymark.contract.work;

import dev.waymark.agent.AgentList;
import dev.waymark.contract.WireNames;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** Reports the agents of a worker to clients, which have no other connection to workers. */
@WorkflowInterface
public interface AgentListWorkflow {
    /** How long the workflow may run. Callers do not wait longer, because nothing runs it without a worker. */
    int MOST_SECONDS = 3;

    @WorkflowMethod(name = WireNames.AGENTS_TYPE)
    AgentList list();
}
