package dev.waymark.worker.judge;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.JudgeInput;
import dev.waymark.conversation.value.CallVerdict;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** Asks the agent's rules about one call. */
@ActivityInterface
public interface JudgeActivity {
    @ActivityMethod(name = WireNames.JUDGE_ACTIVITY)
    CallVerdict judge(JudgeInput input);
}
