package dev.waymark.worker.tool;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.VerifyInput;
import dev.waymark.contract.work.VerifyOutcome;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that checks whether a lost call took effect, as Temporal sees it. */
@ActivityInterface
public interface VerifyActivity {
    @ActivityMethod(name = WireNames.VERIFY_ACTIVITY)
    VerifyOutcome verify(VerifyInput input);
}
