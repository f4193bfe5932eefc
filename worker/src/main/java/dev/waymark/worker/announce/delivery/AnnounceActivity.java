package dev.waymark.worker.announce.delivery;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.AnnounceInput;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The {@code announcement.send} activity, as Temporal sees it. */
@ActivityInterface
public interface AnnounceActivity {
    /** Returns how many announcements were sent. */
    @ActivityMethod(name = WireNames.ANNOUNCE_ACTIVITY)
    int announce(AnnounceInput input);
}
