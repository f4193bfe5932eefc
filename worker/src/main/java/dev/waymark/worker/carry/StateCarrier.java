package dev.waymark.worker.carry;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.carry.StateChunk;
import dev.waymark.contract.carry.StateChunkInput;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that fetches a chunk of the previous run's state, as Temporal sees it. */
@ActivityInterface
public interface StateCarrier {
    @ActivityMethod(name = WireNames.STATE_ACTIVITY)
    StateChunk fetch(StateChunkInput input);
}
