package dev.waymark.conversation;

import java.util.Optional;

/** Rules of the agent: its definition is asked for once, and calls from elsewhere wait until it is known. */
final class AgentRules {
    private final Draft draft;
    private final TurnRules turns;
    private final EffectRules effects;
    private final TakeoverRules takeover;

    AgentRules(Draft draft, TurnRules turns, EffectRules effects, TakeoverRules takeover) {
        this.draft = draft;
        this.turns = turns;
        this.effects = effects;
        this.takeover = takeover;
    }

    void agentRequested() {
        draft.agentRequested = true;
    }

    void agentResolved(Fact.AgentResolved fact) {
        AgentPolicy terms = fact.terms().under(draft.rules);
        draft.terms = Optional.of(terms);
        draft.context =
                terms.context().map(own -> own.overlaidBy(draft.context)).or(() -> draft.context);
        if (draft.agent.isEmpty()) {
            draft.agent = terms.agent();
        }
        effects.keepOnlyEffects(terms);
        takeover.takeUpOpenCalls();
    }

    void agentRefused(Fact.AgentRefused fact) {
        if (draft.life == Conversation.Life.CANCELLED) {
            return; // The cancellation did this, and is the outcome already.
        }
        if (draft.isLeft(fact.problem())) {
            draft.agentRequested = false;
            return;
        }
        if (!draft.turn.isRunning()) {
            turns.open();
        }
        turns.end(Turn.Status.FAILED, "", fact.problem());
        if (draft.life == Conversation.Life.OPEN) {
            draft.life = Conversation.Life.CLOSING;
        }
    }
}
