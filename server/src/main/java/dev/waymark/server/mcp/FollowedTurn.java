package dev.waymark.server.mcp;

import dev.waymark.client.AgentResult;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One turn of a thread, as far as its history has been read. Must be given every moment, in order. The first outcome of
 * the turn stays its outcome, even if a person runs the turn again.
 */
final class FollowedTurn {
    private final String thread;
    private final int turn;
    private final int fact;
    private Optional<Moment> last = Optional.empty();
    private Optional<AgentResult> result = Optional.empty();
    private Optional<Instant> created = Optional.empty();
    private boolean isGone;

    /**
     * @param turn the number of the turn
     * @param fact the first fact that may end the turn
     */
    FollowedTurn(String thread, int turn, int fact) {
        this.thread = thread;
        this.turn = turn;
        this.fact = fact;
    }

    /** The turn that starts a thread. */
    static FollowedTurn first(String thread) {
        return new FollowedTurn(thread, 1, 0);
    }

    static FollowedTurn firstOf(Timeline timeline) {
        return read(first(timeline.thread()), timeline);
    }

    /** The latest turn, in its newest state. */
    static FollowedTurn latestOf(Timeline timeline) {
        Conversation now = recorded(timeline);
        return read(
                new FollowedTurn(
                        timeline.thread(), now.turn().number(), now.counters().facts()),
                timeline);
    }

    /**
     * The newest state that a worker has recorded. Ignores later events, because a worker may record them with other
     * times, which would change the keys of requests.
     */
    static Conversation recorded(Timeline timeline) {
        List<Moment> moments = timeline.moments();
        return moments.isEmpty()
                ? timeline.now()
                : moments.get(moments.size() - 1).state();
    }

    private static FollowedTurn read(FollowedTurn followed, Timeline timeline) {
        timeline.moments().forEach(followed::happened);
        followed.created = Optional.of(timeline.now().createdAt());
        if (timeline.ending().isPresent()) {
            if (timeline.moments().isEmpty()) {
                followed.happened(new Moment(
                        timeline.runId(),
                        timeline.lastEventId(),
                        timeline.now().updatedAt(),
                        Optional.empty(),
                        timeline.now()));
            }
            followed.closed();
        }
        return followed;
    }

    void happened(Moment moment) {
        if (result.isPresent() || isGone) {
            return;
        }
        last = Optional.of(moment);
        Conversation state = moment.state();
        Turn now = state.turn();
        if (now.number() > turn) {
            Optional<Turn> ended = state.ended().filter(before -> before.number() == turn);
            result = ended.map(over -> AgentResult.of(thread, moment.runId(), state, over));
            isGone = ended.isEmpty();
        } else if (now.number() == turn
                && now.status() != Turn.Status.NONE
                && !now.isRunning()
                && state.counters().facts() >= fact) {
            result = Optional.of(AgentResult.of(thread, moment.runId(), state, now));
        }
    }

    /** The thread has closed. A turn that was running or waiting has ended with it. */
    void closed() {
        if (result.isEmpty() && last.isPresent()) {
            Conversation state = last.get().state();
            Problem why = state.lacksAgent()
                    ? new Problem(ProblemType.NOT_FOUND, "no worker has the agent " + state.agent())
                    : new Problem(ProblemType.TERMINATED, "the thread was ended in the middle of a turn");
            result = Optional.of(AgentResult.of(
                    thread,
                    last.get().runId(),
                    state,
                    state.turn().isRunning() || state.turn().status() == Turn.Status.NONE
                            ? state.turn().ended(Turn.Status.FAILED, "", Optional.of(why))
                            : state.turn()));
        }
    }

    /** Whether the history of the turn was deleted. */
    boolean isGone() {
        return isGone;
    }

    Optional<AgentResult> result() {
        return result;
    }

    /** The newest recorded state, or the one in which the turn ended. */
    Optional<Conversation> state() {
        return last.map(Moment::state);
    }

    /** The requests that wait for a person; none once the turn is over. */
    List<PendingItem> pending() {
        return result.isPresent()
                ? List.of()
                : state().map(now -> now.pending(thread)).orElse(List.of());
    }

    Optional<Instant> begun() {
        return state().map(Conversation::createdAt).or(() -> created);
    }

    Optional<Instant> changed() {
        return last.map(Moment::at);
    }
}
