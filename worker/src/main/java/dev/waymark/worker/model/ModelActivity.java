package dev.waymark.worker.model;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.message.Reply;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The {@code model} activity, as Temporal sees it. */
@ActivityInterface
public interface ModelActivity {
    @ActivityMethod(name = WireNames.MODEL_ACTIVITY)
    Reply call(ModelInput input);
}
