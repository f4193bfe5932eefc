package dev.waymark.contract.work;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The input of the {@code announcement.send} activity. Only the workers know the receiver's address.
 *
 * @param reveal how much the receiver may learn. The worker leaves out the rest.
 * @param args the arguments of the call, if they may be revealed
 * @param question the question, if it may be revealed
 * @param begun when the thread began, which distinguishes it from other threads with its id
 */
public record AnnounceInput(
        Announcement what,
        String agent,
        AnnounceRule.Reveal reveal,
        Optional<Json> args,
        Optional<String> question,
        Instant begun)
        implements ActivityInput {
    /** Longer questions are cut, and longer arguments replaced by their length. */
    private static final int MOST_CHARACTERS = 4_000;

    public AnnounceInput {
        Objects.requireNonNull(what, "what");
        Objects.requireNonNull(agent, "agent");
        Objects.requireNonNull(reveal, "reveal");
        Objects.requireNonNull(begun, "begun");
    }

    public static AnnounceInput of(Announcement what, Conversation state) {
        AnnounceRule.Reveal reveal = state.policy().map(AgentPolicy::announce).stream()
                .flatMap(rules -> rules.stream())
                .filter(rule -> rule.receiver().equals(what.receiver()))
                .map(AnnounceRule::reveal)
                .findFirst()
                .orElse(AnnounceRule.Reveal.NOTHING);
        Optional<Announcement.Request> shown =
                what.request().filter(request -> reveal == AnnounceRule.Reveal.ARGUMENTS);
        Optional<PendingItem> ask = shown.flatMap(request -> state.asks().stream()
                .filter(each -> Announcement.Request.of(each).equals(request))
                .findFirst()
                .map(each -> each.shortened(MOST_CHARACTERS)));
        Optional<Call> call = shown.filter(request -> request.kind() != PendingItem.Kind.QUESTION)
                .flatMap(request -> state.calls().get(request.callId()));
        return new AnnounceInput(
                what,
                state.agent(),
                reveal,
                ask.flatMap(PendingItem::args)
                        .or(() -> call.map(known -> known.args().shortened(MOST_CHARACTERS))),
                ask.flatMap(PendingItem::question),
                state.createdAt());
    }

    @Override
    public Work.Announce work() {
        return new Work.Announce(what.number());
    }
}
