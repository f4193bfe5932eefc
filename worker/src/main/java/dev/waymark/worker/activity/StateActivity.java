package dev.waymark.worker.activity;

import dev.waymark.contract.StateChunk;
import dev.waymark.contract.StateChunkInput;
import dev.waymark.contract.WireNames;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that fetches a chunk of the previous run's state, as Temporal sees it. */
@ActivityInterface
public interface StateActivity {
    @ActivityMethod(name = WireNames.STATE_ACTIVITY)
    StateChunk fetch(StateChunkInput input);
}
