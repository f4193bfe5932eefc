package dev.waymark.e2e.examples;

import dev.waymark.workflow.AgentOutcome;
import dev.waymark.workflow.AgentTask;
import dev.waymark.workflow.ChildThread;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** A workflow of a restaurant, in which an agent does two of the steps. */
@WorkflowInterface
public interface ClosingTable {
    @WorkflowMethod
    String close(int table);

    final class Steps implements ClosingTable {
        @Override
        public String close(int table) {
            // Own steps before: activities, timers, other child workflows.
            ChildThread thread =
                    ChildThread.start("table-" + table, AgentTask.of("billing", "Settle the bill of table " + table));
            AgentOutcome bill = thread.await();
            while (bill.isInterrupted()) {
                bill = thread.await(); // A person decides, in the console or elsewhere.
            }
            // Own steps between turns.
            thread.say("Write a line of thanks");
            AgentOutcome thanks = thread.await();
            thread.close();
            // Own steps after.
            return bill.text() + " " + thanks.text();
        }
    }
}
