package dev.waymark.conversation.state;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a thread announces to receivers.
 *
 * @param last how many announcements there have been
 * @param waiting the requests that wait, of this thread and its subagents
 * @param open the announcements that have not ended, oldest first
 * @param until when the open announcements are given up, if the thread is about to close
 */
public record Announcements(
        int last, List<Announcement.Request> waiting, List<Announcement> open, Optional<Instant> until) {
    public static final Announcements NONE = new Announcements(0, List.of(), List.of(), Optional.empty());

    /** The maximum number of announcements that workers have at a time: the server limits the activities of a thread. */
    private static final int MOST_AT_ONCE = 200;

    public Announcements {
        waiting = waiting == null ? List.of() : List.copyOf(waiting);
        open = open == null ? List.of() : List.copyOf(open);
    }

    /**
     * The announcements to give to workers, in order. Announcements to one receiver about one request are sent one
     * after the other, even after an outdated one that a worker may still be sending.
     *
     * @param receivers the number of receivers, each of which has a share of the activities
     */
    public List<Announcement> due(int receivers) {
        List<Announcement> due = new ArrayList<>();
        Map<String, Integer> begun = new LinkedHashMap<>();
        open.stream().filter(each -> !each.isDue()).forEach(each -> begun.merge(each.receiver(), 1, Integer::sum));
        for (int i = 0; i < open.size(); i++) {
            Announcement each = open.get(i);
            if (each.isDue()
                    && begun.getOrDefault(each.receiver(), 0) < MOST_AT_ONCE / Math.max(1, receivers)
                    && open.subList(0, i).stream().noneMatch(each::isInLineWith)) {
                begun.merge(each.receiver(), 1, Integer::sum);
                due.add(each);
            }
        }
        return due;
    }

    /** Whether a worker has this announcement, and its subject has not changed since. */
    public boolean isBegun(int number) {
        return open.stream()
                .anyMatch(each -> each.number() == number && each.progress() == Announcement.Progress.BEGUN);
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public int last = Announcements.this.last;
        public List<Announcement.Request> waiting = Announcements.this.waiting;
        public List<Announcement> open = new ArrayList<>(Announcements.this.open);
        public Optional<Instant> until = Announcements.this.until;

        /** Removes everything, for a thread that begins with the state of another one. */
        public void forget() {
            last = 0;
            waiting = List.of();
            open = new ArrayList<>();
            until = Optional.empty();
        }

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public Announcements done() {
            boolean isUnchanged = last == Announcements.this.last
                    && until.equals(Announcements.this.until)
                    && open.equals(Announcements.this.open)
                    && waiting.equals(Announcements.this.waiting);
            return isUnchanged ? Announcements.this : new Announcements(last, waiting, open, until);
        }
    }
}
