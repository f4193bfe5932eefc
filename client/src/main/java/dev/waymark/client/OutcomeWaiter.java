package dev.waymark.client;

import dev.waymark.client.connection.BusyServer;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates the handles of requests, which determine what a request waits for. */
final class OutcomeWaiter {
    private final ClientContext context;
    private final OutcomeSaver saves;

    OutcomeWaiter(ClientContext context, OutcomeSaver saves) {
        this.context = context;
        this.saves = saves;
    }

    /** @param opening determines what to wait for, once for each wait */
    TurnHandle opening(String thread, String runId, WaitDeadline deadline, Supplier<Awaited> opening) {
        return TurnHandle.of(thread, runId, () -> new OutcomeWait(context, this, saves, thread, deadline, opening));
    }

    /** Returns the handle of a request that this run has received. */
    TurnHandle handle(String thread, String runId, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        return opening(thread, runId, deadline, () -> new Awaited.Coming(runId, waiting.get()));
    }

    /** Returns the handle of a request that the thread had received before. Its outcome may be in an earlier run. */
    TurnHandle repeated(String thread, String runId, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        Supplier<Awaited> opening =
                () -> past(thread, waiting.get(), deadline).orElseGet(() -> new Awaited.Coming(runId, waiting.get()));
        return opening(thread, runId, deadline, () -> WaitThreads.blocking(opening))
                .with(TurnHandle.Delivery.REPEATED);
    }

    Optional<Awaited> past(String thread, OutcomeDetector past, WaitDeadline deadline) {
        Timeline timeline = read(thread, deadline);
        CallbackDispatcher dispatcher = new CallbackDispatcher(context, thread);
        for (Moment moment : timeline.moments()) {
            Optional<OutcomeDetector.Reached> reached = past.observe(moment).filter(dispatcher::isOver);
            if (reached.isPresent()) {
                boolean saved = saves.save(timeline);
                return Optional.of(
                        new Awaited.Known(OutcomeSaver.saved(reached.get().result(thread), saved)));
            }
        }
        return Optional.empty();
    }

    /** Returns the handle of the latest turn. */
    TurnHandle turn(String thread, WaitDeadline deadline) {
        Timeline timeline = read(thread, deadline);
        Conversation now = timeline.now();
        if (now.turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound("no turn yet: " + thread, Remedy.of(Remedy.Action.SAY, thread));
        }
        boolean attended = now.isInterrupted() && new CallbackDispatcher(context, thread).hasBusinessIn(now);
        if ((!now.isSettled() || attended) && timeline.ending().isEmpty()) {
            int fact = now.counters().facts();
            return handle(thread, timeline.runId(), () -> OutcomeDetector.forTurnAt(fact), deadline);
        }
        return known(thread, timeline.runId(), deadline, () -> {
            boolean saved = saves.save(timeline);
            return OutcomeSaver.saved(AgentResult.of(thread, timeline.runId(), now, now.turn()), saved);
        });
    }

    private Timeline read(String thread, WaitDeadline deadline) {
        return BusyServer.ask(() -> context.read(thread), deadline);
    }

    /** Returns the handle of a request whose outcome is known. */
    TurnHandle known(String thread, String runId, WaitDeadline deadline, Supplier<AgentResult> result) {
        return opening(thread, runId, deadline, () -> new Awaited.Known(WaitThreads.blocking(result)));
    }
}
