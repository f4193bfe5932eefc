package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import java.util.Optional;

/**
 * Rules of the agent's definition. Once it is known, the calls of a checkpoint continue. If the agent does not exist,
 * the turn fails and the thread closes.
 */
final class AgentRules {
    private AgentRules() {}

    static void agentRequested(Draft draft) {
        draft.binding.agentRequested = true;
    }

    static void agentResolved(Draft draft, ThreadFact.AgentResolved fact) {
        AgentPolicy policy = fact.terms();
        draft.binding.policy = Optional.of(policy);
        draft.binding.context = policy.context()
                .map(own -> own.overlaidBy(draft.binding.context))
                .or(() -> draft.binding.context);
        if (draft.binding.agent.isEmpty()) {
            draft.binding.agent = policy.agent();
        }
        EffectRules.keepOnlyEffects(draft, policy);
        TakeoverRules.rewriteLostResults(draft);
        TakeoverRules.agentResolved(draft);
        UntrustedRules.agentResolved(draft);
    }

    static void agentRefused(Draft draft, ThreadFact.AgentRefused fact) {
        if (draft.identity.life == ThreadIdentity.Life.CANCELLED) {
            return; // The cancellation caused this, and is already the outcome.
        }
        if (Draft.isLeft(fact.problem())) {
            draft.binding.agentRequested = false;
            return;
        }
        if (!draft.dialogue.turn.isRunning()) {
            TurnRules.open(draft);
        }
        TurnRules.end(draft, Turn.Status.FAILED, "", fact.problem());
        if (draft.identity.life == ThreadIdentity.Life.OPEN) {
            draft.identity.life = ThreadIdentity.Life.CLOSING;
        }
    }
}
