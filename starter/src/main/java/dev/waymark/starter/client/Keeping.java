package dev.waymark.starter.client;

import dev.waymark.history.Moment;
import dev.waymark.history.Projector;
import java.util.List;
import java.util.Optional;

/** Brings what is read of one thread to a keeper: the newest version, as often as the cadence has it. */
final class Keeping {
    private final String thread;
    private final Keeper keeper;
    private final Cadence cadence;
    private final Steps steps = new Steps();
    private Optional<Snapshot> passedOver = Optional.empty();
    private boolean begun;

    Keeping(String thread, Keeper keeper, Cadence cadence) {
        this.thread = thread;
        this.keeper = keeper;
        this.cadence = cadence;
    }

    /** What comes within this time. */
    void take(Feed feed, long waitMillis) {
        follow(feed.next(waitMillis), feed.run());
        if (feed.run().ending().isPresent()) {
            // Whether another run follows is a question of its own.
            follow(feed.next(0), feed.run());
        }
    }

    /** The next moments, and the run that they are of. */
    void follow(List<Moment> moments, Projector run) {
        Optional<Moment> newest = Optional.empty();
        for (Moment moment : moments) {
            // A thread that was resumed or forked is worth keeping before anything happens in it.
            boolean isFirst = !begun && moment.fact().isEmpty();
            begun = true;
            if (steps.isNew(moment) || isFirst) {
                newest = Optional.of(moment);
            }
        }
        if (newest.isPresent()) {
            Snapshot snapshot = Snapshot.of(thread, newest.get(), run);
            if (cadence.isDueIn(newest.get().state())) {
                passedOver = Optional.empty();
                keeper.offer(snapshot);
            } else {
                passedOver = Optional.of(snapshot);
            }
        }
    }

    /** The newest, whatever the cadence says. */
    void takePassedOver() {
        passedOver.ifPresent(keeper::offer);
        passedOver = Optional.empty();
    }

    /** The thread has closed. */
    void end() {
        takePassedOver();
        keeper.last(thread);
    }
}
