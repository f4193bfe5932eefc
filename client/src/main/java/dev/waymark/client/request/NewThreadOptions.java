package dev.waymark.client.request;

import dev.waymark.thread.ThreadOwner;
import java.util.Optional;

/**
 * Options for starting a thread.
 *
 * @param owner the owner of the thread, which servers use to restrict who can see it
 * @param once whether the thread closes when its first turn ends
 */
public record NewThreadOptions(Optional<ThreadOwner> owner, boolean once) {
    /** Options for a thread of this owner that stays open after its first turn. */
    public static NewThreadOptions ownedBy(Optional<ThreadOwner> owner) {
        return new NewThreadOptions(owner, false);
    }

    /** Closes the thread at the end of its first turn. */
    public NewThreadOptions closingAfterOneTurn() {
        return new NewThreadOptions(owner, true);
    }
}
