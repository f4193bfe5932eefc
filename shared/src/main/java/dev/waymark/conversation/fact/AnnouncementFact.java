package dev.waymark.conversation.fact;

import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** A fact about an announcement to a receiver. */
public sealed interface AnnouncementFact extends Fact {
    /** A worker was given the announcement. */
    record AnnouncementBegun(int number) implements AnnouncementFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announcementBegun(this);
        }
    }

    /** A worker has left the announcement to others, or it has to wait for the thread's next run. */
    record AnnouncementLeft(int number) implements AnnouncementFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announcementLeft(this);
        }
    }

    /**
     * The receiver has been told everything, or will not be.
     *
     * @param problem why not everything was announced
     */
    record AnnouncementEnded(int number, Optional<Problem> problem) implements AnnouncementFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announcementEnded(this);
        }
    }
}
