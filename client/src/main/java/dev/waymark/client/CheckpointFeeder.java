package dev.waymark.client;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.Moment;
import dev.waymark.history.Projector;
import java.util.List;
import java.util.Optional;

/**
 * Brings what is read of one thread to a keeper: the newest version, as often as the cadence has it. While a step's calls
 * run, it also brings each change of them, so that the saver has a call before it can take effect.
 */
final class CheckpointFeeder {
    private final String thread;
    private final CheckpointWriter keeper;
    private final SaveInterval cadence;
    private final VersionSteps steps = new VersionSteps();
    private Optional<ThreadSnapshot> passedOver = Optional.empty();
    private List<Call> calls = List.of();
    private boolean begun;

    CheckpointFeeder(String thread, CheckpointWriter keeper, SaveInterval cadence) {
        this.thread = thread;
        this.keeper = keeper;
        this.cadence = cadence;
    }

    /** What comes within this time. */
    void take(MomentStream feed, long waitMillis) {
        follow(feed.next(waitMillis), feed.run());
        if (feed.run().ending().isPresent()) {
            // Whether another run follows is a question of its own.
            follow(feed.next(0), feed.run());
        }
    }

    /** The next moments, and the run that they are of. */
    void follow(List<Moment> moments, Projector run) {
        Optional<Moment> newest = Optional.empty();
        Optional<Moment> newestCalls = Optional.empty();
        for (Moment moment : moments) {
            // A thread that was resumed or forked is worth keeping before anything happens in it.
            boolean isFirst = !begun && moment.fact().isEmpty();
            begun = true;
            boolean isNew = steps.isNew(moment);
            if ((isNew || isFirst) && !ThreadSnapshot.isOfNoUse(moment.state())) {
                newest = Optional.of(moment);
                newestCalls = Optional.empty();
            } else if (haveCallsChanged(moment.state())) {
                newestCalls = Optional.of(moment);
            }
            calls = moment.state().batchCalls();
        }
        if (newest.isPresent()) {
            ThreadSnapshot snapshot = ThreadSnapshot.of(thread, newest.get(), run);
            if (cadence.isDueIn(newest.get().state())) {
                passedOver = Optional.empty();
                keeper.offer(snapshot);
            } else {
                passedOver = Optional.of(snapshot);
            }
        }
        newestCalls.ifPresent(moment -> keeper.offerBetweenVersions(ThreadSnapshot.of(thread, moment, run)));
    }

    private boolean haveCallsChanged(Conversation state) {
        return cadence.isOfSteps()
                && state.batchCalls().stream().anyMatch(Call::isInFlight)
                && !state.batchCalls().equals(calls);
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
