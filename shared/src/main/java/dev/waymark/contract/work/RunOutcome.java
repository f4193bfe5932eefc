package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.contract.DecisionsDigest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A run's result: how its last turn ended. The conversation stays in history.
 *
 * @param spent the spending of a subagent's thread and of the threads below it; only the thread above reads it
 * @param decisions a digest of the decisions about the thread's calls; empty if there are none
 * @param untrusted whether a subagent's thread has read untrusted words, so that its reply brings them to the thread
 *     above
 */
public record RunOutcome(
        String status,
        int turn,
        String text,
        Optional<Problem> error,
        Optional<Spent> spent,
        Optional<String> decisions,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted) {

    public static RunOutcome of(Conversation state) {
        Turn turn = state.turn();
        return new RunOutcome(
                turn.status().wireName(),
                turn.number(),
                turn.text(),
                turn.problem(),
                Optional.empty(),
                DecisionsDigest.of(state),
                false);
    }

    /**
     * The result of a subagent's thread: its final reply or, if the turn is not complete, the last text that the model
     * wrote, and its total spending.
     */
    public static RunOutcome of(Conversation subagent, UnaryOperator<String> cut) {
        Turn turn = subagent.turn();
        String text = turn.text().isEmpty() ? lastWords(subagent) : turn.text();
        return new RunOutcome(
                turn.status().wireName(),
                turn.number(),
                cut.apply(text),
                turn.problem(),
                Optional.of(new Spent(subagent.usage(), subagent.cost())),
                DecisionsDigest.of(subagent),
                subagent.dialogue()
                        .untrusted()
                        .flatMap(UntrustedWords::sinceMessage)
                        .isPresent());
    }

    private static String lastWords(Conversation subagent) {
        List<String> words = subagent.transcript().messages().stream()
                .filter(message -> message.role() == Role.ASSISTANT)
                .map(Message::text)
                .filter(text -> !text.isBlank())
                .toList();
        return words.isEmpty() ? "" : words.get(words.size() - 1);
    }

    /** Whether the decisions match the recorded digest. */
    public boolean hasDecisionsOf(Conversation state) {
        return decisions.equals(DecisionsDigest.of(state));
    }

    /** The fact for the thread that waited for this result. */
    public Fact toFact(String callId) {
        return new SubagentFact.SubagentFinished(callId, status, text, error, spent, untrusted);
    }
}
