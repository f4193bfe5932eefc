package dev.waymark.worker.judge;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.JudgeInput;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.RunReader;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.CallLog;
import dev.waymark.worker.activity.Heartbeat;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;

/** Asks the rules of the agent that the run's history records. */
public final class JudgeActivityImpl implements JudgeActivity {
    private final RunReader runs;
    private final CallJudges judges;

    public JudgeActivityImpl(RunReader runs, CallJudges judges) {
        this.runs = runs;
        this.judges = judges;
    }

    @Override
    public CallVerdict judge(JudgeInput input) {
        CallLog.name(input.callId());
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            AgentSpec agent = ActivityProblems.reading(
                            () -> runs.setting(info.getWorkflowId(), info.getWorkflowRunId()))
                    .agent();
            try {
                return judges.judged(input, agent);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }
}
