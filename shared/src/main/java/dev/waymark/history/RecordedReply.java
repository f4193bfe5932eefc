package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A model call with a reply that the thread accepted, and the states before and after the reply. There is none for a
 * reply that arrived after its turn was stopped.
 *
 * @param called the moment of the call; its state is what the model was given
 * @param replied the moment of the reply
 * @param summary whether the model was asked for a summary of the conversation
 */
public record RecordedReply(Moment called, Moment replied, Reply reply, boolean summary) {
    /** The state that the model was given. */
    public Conversation state() {
        return called.state();
    }

    /**
     * The first decision about a call of the reply: the verdict of the rules or, for a tool without rules, whether it
     * needed approval. Empty if there was none, because the arguments were invalid or the agent had no such tool.
     *
     * @param call the number of the call in the reply, counted from 0
     */
    public Optional<CallVerdict.Then> thenOf(int call) {
        Conversation after = replied.state();
        if (reply.faultOf(call).isPresent() || call >= after.batch().size()) {
            return Optional.empty();
        }
        Call made = made(call);
        return after.policy()
                .filter(policy -> policy.tools().containsKey(made.tool()))
                .map(policy -> made.verdict()
                        .map(CallVerdict::then)
                        .orElse(
                                policy.policyOf(made.tool()).approval()
                                        ? CallVerdict.Then.ASK
                                        : CallVerdict.Then.ALLOW));
    }

    /** The call of the reply with this number, as it was when the model made it. */
    public Call made(int call) {
        Conversation after = replied.state();
        return after.calls().get(after.batch().get(call)).orElseThrow();
    }

    /** The model calls of a thread whose replies counted, in order. */
    public static List<RecordedReply> in(Timeline timeline) {
        List<RecordedReply> replies = new ArrayList<>();
        Optional<Moment> called = Optional.empty();
        Optional<Conversation> before = Optional.empty();
        for (Moment moment : timeline.moments()) {
            Fact fact = moment.fact().orElse(null);
            if (fact instanceof ModelFact.ModelCalled || fact instanceof ModelFact.SummaryRequested) {
                called = Optional.of(moment);
            } else if (fact instanceof ModelFact.ModelReplied replied && isAwaited(before, replied.step())) {
                called.ifPresent(call -> replies.add(new RecordedReply(call, moment, replied.reply(), false)));
            } else if (fact instanceof ModelFact.Summarised written && isAwaited(before, written.step())) {
                called.ifPresent(call -> replies.add(new RecordedReply(call, moment, written.reply(), true)));
            }
            before = Optional.of(moment.state());
        }
        return List.copyOf(replies);
    }

    /** The last reply whose model call is at or before this place. */
    public static Optional<RecordedReply> at(Timeline timeline, String place) {
        Optional<Moment> moment = timeline.at(place);
        Iterator<RecordedReply> replies = in(timeline).iterator();
        Optional<RecordedReply> last = Optional.empty();
        Optional<RecordedReply> next = next(replies);
        for (Moment each : timeline.moments()) {
            if (next.isPresent() && next.get().called() == each) {
                last = next;
                next = next(replies);
            }
            if (moment.isPresent() && each == moment.get()) {
                return last;
            }
        }
        return Optional.empty();
    }

    private static Optional<RecordedReply> next(Iterator<RecordedReply> replies) {
        return replies.hasNext() ? Optional.of(replies.next()) : Optional.empty();
    }

    private static boolean isAwaited(Optional<Conversation> before, int step) {
        return before.filter(state -> state.awaitsModel(step)).isPresent();
    }
}
