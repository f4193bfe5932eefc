package dev.waymark.client;

import dev.waymark.client.connection.BusyServer;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.ReadingPace;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointEntry;
import dev.waymark.client.save.CheckpointFeeder;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.CheckpointWriter;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.save.ThreadSnapshot;
import dev.waymark.client.watch.Watcher;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.saver.SaverException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Waits for the outcome of a turn by reading history, and saves the thread meanwhile if the client has a saver. */
final class OutcomeWaiter {
    private final ClientContext context;

    OutcomeWaiter(ClientContext context) {
        this.context = context;
    }

    AgentResult result(String thread, WaitDeadline deadline) {
        Timeline timeline = read(thread, deadline);
        Conversation now = timeline.now();
        if (now.turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound("no turn yet: " + thread, Remedy.of(Remedy.Action.SAY, thread));
        }
        boolean attended = now.isInterrupted() && attendant(thread).hasBusinessIn(now);
        if ((now.isSettled() && !attended) || timeline.ending().isPresent()) {
            save(timeline);
            return AgentResult.of(thread, timeline.runId(), now, now.turn());
        }
        return await(
                thread,
                timeline.runId(),
                OutcomeDetector.forTurnAt(now.counters().facts()),
                deadline);
    }

    private Timeline read(String thread, WaitDeadline deadline) {
        return BusyServer.ask(() -> context.read(thread), deadline);
    }

    AgentResult await(
            String thread, Requests.Accepted accepted, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        if (accepted.ack().duplicate()) {
            // The outcome may be in an earlier run.
            OutcomeDetector past = waiting.get();
            Timeline timeline = read(thread, deadline);
            for (Moment moment : timeline.moments()) {
                Optional<OutcomeDetector.Reached> reached = past.observe(moment);
                if (reached.isPresent() && isOver(reached.get(), attendant(thread))) {
                    save(timeline);
                    return resultOf(thread, reached.get());
                }
            }
        }
        return await(thread, accepted.runId(), waiting.get(), deadline);
    }

    AgentResult await(String thread, String runId, OutcomeDetector waiting, WaitDeadline deadline) {
        context.watcher().ifPresent(watcher -> watcher.waitBegins(thread));
        try {
            return awaitSaving(thread, runId, waiting, deadline);
        } finally {
            context.watcher().ifPresent(Watcher::waitEnds);
        }
    }

    private AgentResult awaitSaving(String thread, String runId, OutcomeDetector waiting, WaitDeadline deadline) {
        MomentStream feed = context.moments(thread, runId);
        if (context.saving().isEmpty()) {
            return await(thread, feed, moments -> {}, waiting, deadline);
        }
        CheckpointWriter keeper = new CheckpointWriter(context.saving().get());
        CheckpointFeeder keeping =
                new CheckpointFeeder(thread, keeper, context.saving().get().cadence());
        try {
            return await(thread, feed, moments -> keeping.follow(moments, feed.run()), waiting, deadline);
        } finally {
            end(keeper);
        }
    }

    /**
     * Waits for the last save before an outcome is returned, up to the flush timeout. Reports threads that could not be
     * saved by then.
     */
    private void end(CheckpointWriter keeper) {
        SaveOptions where = context.saving().orElseThrow();
        for (String unsaved : keeper.flush(where.flushTimeout())) {
            if (!keeper.isRefused(unsaved)) {
                where.listener().failed(SaverException.late(unsaved, where.flushTimeout()));
            }
            where.listener().notSaved(unsaved);
        }
        keeper.close();
    }

    /** Saves the newest version of a thread and waits until it is saved. Does nothing without a saver. */
    void save(String thread) {
        if (context.saving().isPresent()) {
            save(context.translated(() -> context.read(RequestLimits.thread(thread))));
        }
    }

    void save(Timeline timeline) {
        if (context.saving().isPresent()) {
            String firstRunId = context.histories().firstRunId(timeline.thread(), timeline.runId());
            ThreadSnapshot.of(timeline, firstRunId).ifPresent(this::save);
        }
    }

    /**
     * Waits until a new thread has its first message, then saves the thread and waits until it is saved. Reports the
     * thread as not saved if the message does not arrive within the flush timeout.
     */
    void saveBeginning(AgentClient.Started started) {
        if (context.saving().isEmpty()) {
            return;
        }
        SaveOptions where = context.saving().get();
        WaitDeadline deadline = WaitDeadline.after(where.flushTimeout());
        MomentStream moments = context.moments(started.thread(), started.runId());
        Optional<Moment> newest = Optional.empty();
        while (newest.isEmpty() && !deadline.isPast() && !moments.isClosed()) {
            newest = moments.next(deadline.millisLeft()).stream()
                    // Checkpoints do not contain queued messages.
                    .filter(moment -> moment.state().transcript().count() > 0
                            && !moment.state().lacksAgent())
                    .reduce((earlier, later) -> later);
        }
        if (newest.isPresent()) {
            save(ThreadSnapshot.of(started.thread(), newest.get(), moments.run()));
        } else {
            where.listener().failed(SaverException.late(started.thread(), where.flushTimeout()));
            where.listener().notSaved(started.thread());
        }
    }

    /** Saves the current state of a thread once. */
    CheckpointSaved saveOnce(String thread, SaveOptions where, boolean replacing) {
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
        return CheckpointSaved.of(thread, present);
    }

    void save(ThreadSnapshot snapshot) {
        if (context.saving().isPresent()) {
            CheckpointWriter keeper = new CheckpointWriter(context.saving().get());
            keeper.offer(snapshot);
            end(keeper);
        }
    }

    private AgentResult await(
            String thread,
            MomentStream feed,
            Consumer<List<Moment>> follower,
            OutcomeDetector waiting,
            WaitDeadline deadline) {
        CallbackDispatcher attendant = attendant(thread);
        WaitPolicy patience = new WaitPolicy(context.requests(), thread, deadline);
        WaitNotifier notifier = new WaitNotifier(context, thread, waiting);
        boolean isSeen = context.watcher().isPresent() || context.saving().isPresent();
        ReadingPace pace = new ReadingPace();
        while (!feed.isClosed()) {
            Optional<Conversation> newest = Optional.empty();
            Optional<OutcomeDetector.Reached> reached = Optional.empty();
            if (!isSeen) {
                Sleeper.millis(Math.min(pace.millis(), patience.millis()));
            }
            List<Moment> next = feed.next(notifier.millis(patience.millis()));
            follower.accept(next);
            notifier.tell(next);
            for (Moment moment : next) {
                newest = Optional.of(moment.state());
                reached = waiting.observe(moment);
                if (reached.isPresent() && isOver(reached.get(), attendant)) {
                    return resultOf(thread, reached.get());
                }
            }
            if (feed.wasReset()) {
                // The awaited turn may not be in this history. The newest turn is the closest result.
                return result(thread, deadline);
            }
            // Only requests of the newest state are passed on, because requests of earlier states may already be
            // decided.
            if (newest.filter(waiting::isOn).map(attendant::attend).orElse(false)) {
                // The callback may have taken a long time, which says nothing about workers.
                patience = new WaitPolicy(context.requests(), thread, deadline);
                if (reached.isPresent() && isOver(reached.get(), attendant)) {
                    return resultOf(thread, reached.get());
                }
            } else {
                patience.check(feed);
            }
        }
        return endOf(thread, feed);
    }

    private CallbackDispatcher attendant(String thread) {
        return new CallbackDispatcher(context, thread);
    }

    /**
     * Returns whether the wait is over. A turn that waits for people is not over while callbacks still have requests to
     * handle.
     */
    private static boolean isOver(OutcomeDetector.Reached reached, CallbackDispatcher attendant) {
        return !reached.turn().isRunning() || !attendant.hasBusinessIn(reached.state());
    }

    static AgentResult resultOf(String thread, OutcomeDetector.Reached reached) {
        return AgentResult.of(thread, reached.runId(), reached.state(), reached.turn());
    }

    static AgentResult endOf(String thread, MomentStream closed) {
        Conversation state = closed.run().expectedState().orElseThrow(() -> Requests.noSuchThread(thread));
        return AgentResult.of(thread, closed.run().runId(), state, state.turn());
    }
}
