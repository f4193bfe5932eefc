package dev.waymark.worker.workflow;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import java.util.Optional;

/** Observes a thread. Runs inside the workflow, so it must not fail, block or change anything. */
@FunctionalInterface
public interface AppliedFacts {
    AppliedFacts IGNORED = (before, fact, after, agent) -> {};

    /** Called after the fact changed {@code before} into {@code after}. */
    void applied(Conversation before, Fact fact, Conversation after, Optional<AgentSpec> agent);
}
