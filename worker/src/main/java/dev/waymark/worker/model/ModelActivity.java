package dev.waymark.worker.model;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The {@code model} activity, as Temporal sees it. */
@ActivityInterface
public interface ModelActivity {
    @ActivityMethod(name = WireNames.MODEL_ACTIVITY)
    ModelResult call(ModelInput input);
}
