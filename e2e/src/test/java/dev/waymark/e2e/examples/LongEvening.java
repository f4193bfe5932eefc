package dev.waymark.e2e.examples;

import dev.waymark.conversation.value.Json;
import dev.waymark.workflow.AgentTask;
import dev.waymark.workflow.ChildThread;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.util.Optional;

/** A workflow that continues as new after each turn, and keeps its thread. */
@WorkflowInterface
public interface LongEvening {
    @WorkflowMethod
    String serve(int rounds, Optional<Json> thread);

    final class Steps implements LongEvening {
        @Override
        public String serve(int rounds, Optional<Json> carried) {
            ChildThread thread = carried.map(ChildThread::of)
                    .orElseGet(() -> ChildThread.start("evening", AgentTask.of("billing", "Good evening")));
            if (carried.isPresent()) {
                thread.say("Another round");
            }
            String text = thread.await().text();
            if (rounds > 1) {
                Workflow.newContinueAsNewStub(LongEvening.class).serve(rounds - 1, Optional.of(thread.carried()));
            }
            thread.close();
            return text;
        }
    }
}
