package dev.waymark.bench;

import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;
import io.temporal.activity.ActivityOptions;
import io.temporal.workflow.Async;
import io.temporal.workflow.Promise;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The baseline of the benchmarks: a workflow that calls activities and keeps no conversation. Its activities return
 * strings as long as the results of an agent's activities, so the additional cost of an agent is due to Waymark.
 */
@WorkflowInterface
public interface BareWorkflow {

    /**
     * @param waitFrom the iteration from which the workflow waits for a {@code go} signal instead of calling tools; 0
     * for never
     */
    @WorkflowMethod
    void run(int iterations, int tools, int waitFrom);

    @SignalMethod
    void go();

    @ActivityInterface
    interface Activities {
        @ActivityMethod(name = "think")
        String think(int iteration, int tools);

        @ActivityMethod(name = "act")
        String act(int iteration);
    }

    final class Run implements BareWorkflow {
        private final Activities activities = Workflow.newActivityStub(
                Activities.class,
                ActivityOptions.newBuilder()
                        .setStartToCloseTimeout(Duration.ofMinutes(10))
                        .build());
        private int goes;

        @Override
        public void run(int iterations, int tools, int waitFrom) {
            for (int i = 1; i <= iterations; i++) {
                activities.think(i, tools);
                if (waitFrom > 0 && i >= waitFrom) {
                    Workflow.await(() -> goes > 0);
                    goes--;
                } else {
                    act(i, tools);
                }
            }
            activities.think(iterations + 1, tools);
        }

        private void act(int iteration, int tools) {
            List<Promise<String>> all = new ArrayList<>();
            for (int tool = 0; tool < tools; tool++) {
                all.add(Async.function(activities::act, iteration));
            }
            Promise.allOf(all).get();
        }

        @Override
        public void go() {
            goes++;
        }
    }
}
