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
     * No worker has the announcement any more.
     *
     * @param problem why not everything was announced; empty if it was
     */
    record AnnouncementEnded(int number, Optional<Problem> problem) implements AnnouncementFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.announcementEnded(this);
        }
    }
}
