package dev.waymark.client;

import dev.waymark.client.connection.BusyServer;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.ReadingPace;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.watch.Watcher;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Waits for the outcome of a turn by reading history, while {@link OutcomeSaver} saves the thread. */
final class OutcomeWaiter {
    private final ClientContext context;
    private final OutcomeSaver saves;

    OutcomeWaiter(ClientContext context, OutcomeSaver saves) {
        this.context = context;
        this.saves = saves;
    }

    /** Returns the handle of a request that this run has received. */
    TurnHandle handle(String thread, String runId, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        return TurnHandle.of(context, thread, runId, () -> await(thread, runId, waiting.get(), deadline));
    }

    /** Returns the handle of a request that the thread had received before. Its outcome may be in an earlier run. */
    TurnHandle repeated(String thread, String runId, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        return TurnHandle.of(context, thread, runId, () -> awaitRepeated(thread, runId, waiting, deadline))
                .with(edit -> edit.delivery = TurnHandle.Delivery.REPEATED);
    }

    /** Returns the handle of the latest turn. */
    TurnHandle latest(String thread, WaitDeadline deadline) {
        Requests.Known known = BusyServer.ask(() -> context.get(thread), deadline);
        return TurnHandle.of(context, thread, known.runId(), () -> result(thread, deadline));
    }

    private AgentResult result(String thread, WaitDeadline deadline) {
        Timeline timeline = read(thread, deadline);
        Conversation now = timeline.now();
        if (now.turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound("no turn yet: " + thread, Remedy.of(Remedy.Action.SAY, thread));
        }
        boolean attended = now.isInterrupted() && attendant(thread).hasBusinessIn(now);
        if ((now.isSettled() && !attended) || timeline.ending().isPresent()) {
            saves.save(timeline);
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

    private AgentResult awaitRepeated(
            String thread, String runId, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        OutcomeDetector past = waiting.get();
        Timeline timeline = read(thread, deadline);
        for (Moment moment : timeline.moments()) {
            Optional<OutcomeDetector.Reached> reached = past.observe(moment);
            if (reached.isPresent() && isOver(reached.get(), attendant(thread))) {
                saves.save(timeline);
                return resultOf(thread, reached.get());
            }
        }
        return await(thread, runId, waiting.get(), deadline);
    }

    private AgentResult await(String thread, String runId, OutcomeDetector waiting, WaitDeadline deadline) {
        context.watcher().ifPresent(watcher -> watcher.waitBegins(thread));
        try {
            return awaitSaving(thread, runId, waiting, deadline);
        } finally {
            context.watcher().ifPresent(Watcher::waitEnds);
        }
    }

    private AgentResult awaitSaving(String thread, String runId, OutcomeDetector waiting, WaitDeadline deadline) {
        MomentStream feed = context.moments(thread, runId);
        return saves.during(thread, feed, follower -> await(thread, feed, follower, waiting, deadline));
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
                notifier.tell(patience.check(feed));
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
