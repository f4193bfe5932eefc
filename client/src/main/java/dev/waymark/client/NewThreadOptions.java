package dev.waymark.client;

import dev.waymark.contract.ThreadOwner;
import java.util.Optional;

/**
 * How to start a thread.
 *
 * @param owner whose it is, for servers that let people see only their own
 * @param once whether it closes when its first turn ends
 */
public record NewThreadOptions(Optional<ThreadOwner> owner, boolean once) {
    public static NewThreadOptions ownedBy(Optional<ThreadOwner> owner) {
        return new NewThreadOptions(owner, false);
    }

    public NewThreadOptions closingAfterOneTurn() {
        return new NewThreadOptions(owner, true);
    }
}
