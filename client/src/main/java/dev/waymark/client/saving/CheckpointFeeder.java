package dev.waymark.client.saving;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.save.SaveInterval;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.history.Projector;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;

/**
 * Passes the newest version of a thread to the checkpoint writer, as often as the save interval allows. Unless only
 * settled states are saved, also passes on the newest state in which a running call has changed, so that the saver
 * knows that the call has begun.
 */
public final class CheckpointFeeder {
    private final String thread;
    private final CheckpointWriter writer;
    private final SaveInterval cadence;
    private final VersionSteps steps = new VersionSteps();
    private Optional<ThreadSnapshot> passedOver = Optional.empty();
    private List<Call> calls = List.of();
    private boolean begun;

    public CheckpointFeeder(String thread, CheckpointWriter writer, SaveInterval cadence) {
        this.thread = thread;
        this.writer = writer;
        this.cadence = cadence;
    }

    /** Waits at most this long for new moments, and passes on what arrives. */
    public void take(MomentStream feed, long waitMillis) {
        follow(feed.next(waitMillis), feed.run());
        if (feed.run().ending().isPresent()) {
            // Another read finds the next run, if there is one.
            follow(feed.next(0), feed.run());
        }
    }

    /** Passes on the newest version among these moments, if it is due. */
    public void follow(List<Moment> moments, Projector run) {
        Optional<Moment> newest = Optional.empty();
        Optional<Moment> newestCalls = Optional.empty();
        for (Moment moment : moments) {
            // A resumed or forked thread is saved before anything happens in it.
            boolean isFirst = !begun && moment.fact().isEmpty();
            begun = true;
            boolean isNew = steps.isNew(moment);
            if ((isNew || isFirst) && !moment.state().lacksAgent()) {
                newest = Optional.of(moment);
                newestCalls = Optional.empty();
            } else if (haveCallsChanged(moment.state())) {
                newestCalls = Optional.of(moment);
            }
            calls = moment.state().batchCalls();
        }
        if (newest.isPresent()) {
            ThreadSnapshot snapshot = ThreadSnapshot.of(thread, newest.get(), run);
            if (!cadence.settledOnly() || newest.get().state().isSettled()) {
                passedOver = Optional.empty();
                writer.offer(snapshot);
            } else {
                passedOver = Optional.of(snapshot);
            }
        }
        newestCalls.ifPresent(moment -> writer.offerBetweenVersions(ThreadSnapshot.of(thread, moment, run)));
    }

    private boolean haveCallsChanged(Conversation state) {
        return !cadence.settledOnly()
                && state.batchCalls().stream().anyMatch(Call::isInFlight)
                && !state.batchCalls().equals(calls);
    }

    /** Passes on the version that the save interval has held back, if there is one. */
    public void takePassedOver() {
        passedOver.ifPresent(writer::offer);
        passedOver = Optional.empty();
    }

    /** Passes on the last version of a thread that has closed, and announces that no more will follow. */
    public void end() {
        takePassedOver();
        writer.last(thread);
    }
}
