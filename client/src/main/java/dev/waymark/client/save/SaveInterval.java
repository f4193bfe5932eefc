package dev.waymark.client.save;

import java.time.Duration;

/**
 * The maximum frequency of saves; a slower saver gets only the newest version.
 *
 * @param settledOnly whether to save only when the turn has ended or waits for a person
 * @param apart the minimum time between two saves of one thread
 */
public record SaveInterval(boolean settledOnly, Duration apart) {
    /** Saves after every step, when a person is asked, and when a call begins or ends. */
    public static final SaveInterval STEP = new SaveInterval(false, Duration.ZERO);

    /** Saves after every turn, and when a person is asked. */
    public static final SaveInterval TURN = new SaveInterval(true, Duration.ZERO);

    /** Saves after every step, but with at least this time between saves. */
    public static SaveInterval every(Duration apart) {
        return new SaveInterval(false, apart);
    }
}
