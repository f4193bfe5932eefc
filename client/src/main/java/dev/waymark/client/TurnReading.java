package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.ReadingPace;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.conversation.Conversation;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads the moments of a thread until the awaited turn has its outcome. Reports them to the listener, the saver and
 * the callbacks of the caller. Used by one Java thread at a time.
 */
final class TurnReading {
    /** For shorter pauses, a long poll that may end them is not worth its cost. */
    private static final long SHORT_MILLIS = 500;

    private final ClientContext context;
    private final OutcomeWaiter outcomes;
    private final String thread;
    private final OutcomeDetector waiting;
    private final WaitDeadline deadline;
    private final MomentStream feed;
    private final CallbackDispatcher dispatcher;
    private final WaitNotifier notifier;
    private final Optional<OutcomeSaver.Following> saving;
    private final ReadingPace pace = new ReadingPace();

    private WaitPolicy policy;
    private boolean hasGathered;
    private boolean hasRead;

    private TurnReading(
            ClientContext context,
            OutcomeWaiter outcomes,
            String thread,
            Awaited.Coming coming,
            WaitDeadline deadline,
            Optional<OutcomeSaver.Following> saving) {
        this.context = context;
        this.outcomes = outcomes;
        this.thread = thread;
        this.waiting = coming.waiting();
        this.deadline = deadline;
        this.feed = context.moments(thread, coming.runId());
        this.dispatcher = new CallbackDispatcher(context, thread);
        this.notifier = new WaitNotifier(context, thread, waiting);
        this.saving = saving;
        this.policy = policy();
    }

    static TurnReading begin(
            ClientContext context,
            OutcomeWaiter outcomes,
            OutcomeSaver saves,
            String thread,
            Awaited.Coming coming,
            WaitDeadline deadline) {
        WaitThreads.blocking(() -> context.tell(new ThreadEvent.WaitBegan(thread)));
        return new TurnReading(context, outcomes, thread, coming, deadline, saves.following(thread));
    }

    private WaitPolicy policy() {
        return new WaitPolicy(context.requests(), thread, deadline);
    }

    /**
     * Reads new moments. Returns the outcome if it is there, or what to wait for instead; otherwise empty. Waits only
     * for the caller's code, not for events.
     */
    Optional<Awaited> look() {
        // After the deadline, returns an outcome that is already there, without waiting for one.
        List<Moment> next = !hasRead && deadline.isPast() ? WaitThreads.blocking(() -> feed.next(0)) : feed.take();
        hasRead |= !next.isEmpty();
        if (isObserved()) {
            WaitThreads.blocking(() -> {
                saving.ifPresent(follower -> follower.follow(next, feed.run()));
                notifier.tell(next);
            });
        }
        Optional<Conversation> newest = Optional.empty();
        Optional<OutcomeDetector.Reached> reached = Optional.empty();
        for (Moment moment : next) {
            newest = Optional.of(moment.state());
            reached = waiting.observe(moment);
            if (isOver(reached)) {
                return outcome(reached);
            }
        }
        if (feed.wasReset()) {
            // The awaited turn may not be in this history. The newest turn is the closest result.
            return Optional.of(
                    WaitThreads.blocking(() -> outcomes.turn(thread, deadline).open()));
        }
        if (feed.isClosed()) {
            return Optional.of(new Awaited.Known(end(feed)));
        }
        // Only requests of the newest state are passed on, because requests of earlier states may already be decided.
        Optional<Conversation> asking = newest.filter(waiting::isOn).filter(dispatcher::isToBeAsked);
        if (asking.isEmpty()) {
            notifier.tell(policy.check(feed));
            return Optional.empty();
        }
        WaitThreads.blocking(() -> dispatcher.attend(asking.get()));
        // The time that the callback took does not count as time without a worker.
        policy = policy();
        return isOver(reached) ? outcome(reached) : Optional.empty();
    }

    private boolean isObserved() {
        return context.followsSteps() || saving.isPresent();
    }

    private boolean isOver(Optional<OutcomeDetector.Reached> reached) {
        return reached.filter(dispatcher::isOver).isPresent();
    }

    private Optional<Awaited> outcome(Optional<OutcomeDetector.Reached> reached) {
        return reached.map(found -> new Awaited.Known(found.result(thread)));
    }

    private AgentResult end(MomentStream closed) {
        Conversation state = closed.run().expectedState().orElseThrow(() -> Requests.noSuchThread(thread));
        return AgentResult.of(thread, closed.run().runId(), state, state.turn());
    }

    /** Completes when there may be something new. */
    CompletableFuture<?> pause() {
        long gathering = isObserved() || hasGathered ? 0 : Math.min(pace.millis(), policy.millis());
        hasGathered = gathering > 0;
        return gathering > 0
                ? Sleeper.first(gathering, gathering < SHORT_MILLIS ? new CompletableFuture<>() : feed.askForTheEnd())
                : Sleeper.first(notifier.millis(policy.millis()), feed.ask(), policy.answer(), notifier.ask());
    }

    /** Ends the reading. Waits for the saver, and returns whether the newest step is saved if there is one. */
    boolean end() {
        feed.close();
        notifier.cancel();
        return WaitThreads.blocking(() -> {
            try {
                return saving.map(OutcomeSaver.Following::end).orElse(true);
            } finally {
                context.tell(new ThreadEvent.WaitEnded(thread));
            }
        });
    }
}
