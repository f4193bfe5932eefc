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

    /**
     * The worker that had the announcement has finished or lost it.
     *
     * @param problem why the announcement is incomplete; empty if everything was announced
     */
    record AnnouncementEnded(int number, Optional<Problem> problem) implements AnnouncementFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announcementEnded(this);
        }
    }
}
