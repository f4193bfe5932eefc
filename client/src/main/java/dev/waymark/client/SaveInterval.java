package dev.waymark.client;

import dev.waymark.conversation.Conversation;
import java.time.Duration;

/**
 * How often a thread is saved, at most: a saver that is slower gets only the newest.
 *
 * @param settledOnly only when nothing more happens by itself: the turn ended, or waits for a person
 * @param apart the least time between two saves of one thread
 */
public record SaveInterval(boolean settledOnly, Duration apart) {
    /** After every step, when a person is asked, and when a call begins or ends. */
    public static final SaveInterval STEP = new SaveInterval(false, Duration.ZERO);

    /** After every turn, and when a person is asked. */
    public static final SaveInterval TURN = new SaveInterval(true, Duration.ZERO);

    /** After every step, but not before the last save is that long ago. */
    public static SaveInterval every(Duration apart) {
        return new SaveInterval(false, apart);
    }

    /** Whether what happens within a turn is saved as well. */
    boolean isOfSteps() {
        return !settledOnly;
    }

    boolean isDueIn(Conversation state) {
        return !settledOnly || state.isSettled();
    }
}
