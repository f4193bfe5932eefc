package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Compares messages with a thread's history: whether they were delivered, and whether the thread would accept them. */
final class DeliveryCheck {
    private final Timeline timeline;

    DeliveryCheck(Timeline timeline) {
        this.timeline = timeline;
    }

    static WaymarkException keyReused() {
        return new WaymarkException.Refused(
                ProblemType.KEY_REUSED,
                "another request has used this key",
                "Send the same request again, or use another key");
    }

    /**
     * Checks that the fact with this number is the message. Without this check, a message that differs from an earlier
     * one with the same id would be dropped as a repetition. A fact that retention has deleted cannot be compared.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} if the fact is another message
     */
    void requireSame(OutboundMessage message, int number) {
        boolean differs = timeline.moments().stream()
                .filter(moment -> moment.state().counters().facts() == number)
                .flatMap(moment -> moment.fact().stream())
                .anyMatch(fact -> !asked(fact).equals(asked(message.fact())));
        if (differs) {
            throw keyReused();
        }
    }

    /** The fact without the partial reply of a stop, because that does not come from the sender. */
    private static Fact asked(Fact fact) {
        return fact instanceof PersonFact.Stopped stop ? new PersonFact.Stopped(stop.by()) : fact;
    }

    /**
     * Checks that the thread would accept the messages one after the other, before any is sent.
     *
     * @return the messages that were delivered before, with the numbers of their facts
     * @throws WaymarkException if the thread would refuse one of them
     */
    Map<OutboundMessage, Integer> delivered(List<OutboundMessage> messages) {
        Map<OutboundMessage, Integer> delivered = new LinkedHashMap<>();
        Conversation state = timeline.now();
        for (OutboundMessage message : messages) {
            Optional<Integer> earlier = earlier(message);
            if (earlier.isPresent()) {
                delivered.put(message, earlier.get());
                continue;
            }
            Optional<Problem> refusal = Rules.refusal(state, message.fact());
            if (refusal.isPresent()) {
                throw Requests.refused(timeline.thread(), refusal.get());
            }
            state = Rules.apply(state, message.fact(), timeline.now().updatedAt());
        }
        return delivered;
    }

    private Optional<Integer> earlier(OutboundMessage message) {
        if (message.fact() instanceof PersonFact.OutcomeSettled settled) {
            return earlier(settled);
        }
        Optional<Integer> number = timeline.now().firstDelivery(message.fact());
        number.ifPresent(known -> requireSame(message, known));
        return number;
    }

    /**
     * History records no ids of settlements. If the last settlement of the call that the thread accepted has the same
     * content, this settlement counts as already delivered.
     */
    private Optional<Integer> earlier(PersonFact.OutcomeSettled settled) {
        if (Rules.refusal(timeline.now(), settled).isEmpty()) {
            return Optional.empty();
        }
        Optional<Moment> last = Optional.empty();
        Optional<Conversation> before = Optional.empty();
        for (Moment moment : timeline.moments()) {
            boolean accepted = moment.fact()
                    .filter(PersonFact.OutcomeSettled.class::isInstance)
                    .map(PersonFact.OutcomeSettled.class::cast)
                    .filter(fact -> fact.callId().equals(settled.callId()))
                    .isPresent();
            if (accepted
                    && before.flatMap(state -> Rules.refusal(state, settled)).isEmpty()) {
                last = Optional.of(moment);
            }
            before = Optional.of(moment.state());
        }
        return last.filter(moment -> moment.fact().equals(Optional.of(settled)))
                .map(moment -> moment.state().counters().facts());
    }
}
