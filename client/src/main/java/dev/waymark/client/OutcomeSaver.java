package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.saving.CheckpointEntry;
import dev.waymark.client.saving.CheckpointFeeder;
import dev.waymark.client.saving.CheckpointWriter;
import dev.waymark.client.saving.ThreadSnapshot;
import dev.waymark.history.Projector;
import dev.waymark.saver.SaverException;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Saves the threads that a client starts, continues or waits for. Does nothing if the client has no saver. */
final class OutcomeSaver {
    private static final Logger LOG = LoggerFactory.getLogger(OutcomeSaver.class);

    private final ClientContext context;

    OutcomeSaver(ClientContext context) {
        this.context = context;
    }

    /** Returns the result, which also says if its newest step could not be saved. */
    static AgentResult saved(AgentResult result, boolean newest) {
        return newest ? result : result.withDetails(result.details().withoutSave());
    }

    /** Logs what could not be saved. Used by clients without a listener. */
    static void log(ThreadEvent event) {
        if (event instanceof ThreadEvent.SaveFailed failed) {
            LOG.warn("the saver failed: {}", failed.problem().getMessage());
        } else if (event instanceof ThreadEvent.Unsaved unsaved) {
            LOG.warn("the newest step of thread {} is not saved", unsaved.threadId());
        }
    }

    /** Returns a writer that reports to the client's listener. */
    CheckpointWriter writer(SaveOptions where) {
        return new CheckpointWriter(
                where,
                saved -> context.tell(ThreadEvent.Saved.of(saved.thread(), saved.moment())),
                problem -> context.tell(new ThreadEvent.SaveFailed(problem)));
    }

    /** Saves a thread while its outcome is awaited. Returns empty if the client has no saver. */
    Optional<Following> following(String thread) {
        return context.saving().map(where -> new Following(thread, where));
    }

    /** A thread that is saved while its outcome is awaited. */
    final class Following {
        private final CheckpointWriter writer;
        private final CheckpointFeeder feeder;

        private Following(String thread, SaveOptions where) {
            this.writer = writer(where);
            this.feeder = new CheckpointFeeder(thread, writer, where.cadence());
        }

        /** Takes the next moments of the thread. */
        void follow(List<Moment> moments, Projector run) {
            feeder.follow(moments, run);
        }

        /** Returns after the last save: whether the newest step is saved. */
        boolean end() {
            return OutcomeSaver.this.end(writer);
        }
    }

    /**
     * Waits for the last save before an outcome is returned, up to the flush timeout. Reports threads that could not be
     * saved by then, and returns whether there are none.
     */
    private boolean end(CheckpointWriter writer) {
        SaveOptions where = context.saving().orElseThrow();
        List<String> left = writer.flush(where.flushTimeout());
        for (String unsaved : left) {
            if (!writer.isRefused(unsaved)) {
                context.tell(new ThreadEvent.SaveFailed(SaverException.late(unsaved, where.flushTimeout())));
            }
            context.tell(new ThreadEvent.Unsaved(unsaved));
        }
        writer.close();
        return left.isEmpty();
    }

    /**
     * Saves the newest version of a thread and waits until it is saved. Does nothing without a saver.
     *
     * @return false if it could not be saved
     */
    boolean save(String thread) {
        return context.saving().isEmpty() || save(context.translated(() -> context.read(RequestLimits.thread(thread))));
    }

    boolean save(Timeline timeline) {
        if (context.saving().isEmpty()) {
            return true;
        }
        String firstRunId = context.histories().firstRunId(timeline.thread(), timeline.runId());
        return ThreadSnapshot.of(timeline, firstRunId).map(this::save).orElse(true);
    }

    /**
     * Waits until a new thread has its first message, then saves the thread and waits until it is saved. Reports the
     * thread as not saved if the message does not arrive within the flush timeout.
     */
    void saveBeginning(String thread, String runId) {
        if (context.saving().isEmpty()) {
            return;
        }
        SaveOptions where = context.saving().get();
        WaitDeadline deadline = WaitDeadline.after(where.flushTimeout());
        Optional<ThreadSnapshot> newest = Optional.empty();
        try (MomentStream moments = context.moments(thread, runId)) {
            while (newest.isEmpty() && !deadline.isPast() && !moments.isClosed()) {
                newest = moments.next(deadline.millisLeft()).stream()
                        // Checkpoints do not contain queued messages.
                        .filter(moment -> moment.state().transcript().count() > 0
                                && !moment.state().lacksAgent())
                        .reduce((earlier, later) -> later)
                        .map(moment -> ThreadSnapshot.of(thread, moment, moments.run()));
            }
        }
        if (newest.isPresent()) {
            save(newest.get());
        } else {
            context.tell(new ThreadEvent.SaveFailed(SaverException.late(thread, where.flushTimeout())));
            context.tell(new ThreadEvent.Unsaved(thread));
        }
    }

    /** Saves the current state of a thread once. */
    ThreadEvent.Saved saveOnce(String thread, SaveOptions where, boolean replacing) {
        Timeline timeline = context.read(RequestLimits.thread(thread));
        if (timeline.lacksAgent()) {
            throw new WaymarkException.NotFound(
                    "the thread did not start, because its agent was not found: " + thread, "There is nothing to save");
        }
        String firstRunId = context.histories().firstRunId(thread, timeline.runId());
        Moment present = new Moment(
                timeline.runId(), timeline.lastEventId(), timeline.now().updatedAt(), Optional.empty(), timeline.now());
        CheckpointEntry entry = CheckpointEntry.of(
                new ThreadSnapshot(thread, present, timeline.agent(), timeline.ending(), firstRunId));
        if (replacing) {
            entry.replace(where.bounded());
        } else {
            entry.objection(entry.compare(where.bounded())).ifPresent(problem -> {
                throw problem;
            });
            entry.write(where.bounded());
        }
        return ThreadEvent.Saved.of(thread, present);
    }

    boolean save(ThreadSnapshot snapshot) {
        if (context.saving().isEmpty()) {
            return true;
        }
        CheckpointWriter writer = writer(context.saving().get());
        writer.offer(snapshot);
        return end(writer);
    }
}
