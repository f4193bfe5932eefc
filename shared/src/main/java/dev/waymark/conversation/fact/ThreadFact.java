package dev.waymark.conversation.fact;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** A fact about the thread itself, such as its start, its agent or its limits. */
public sealed interface ThreadFact extends Fact {
    /** A thread started, under rule version {@code rules}. */
    record RunStarted(
            int rules,
            String agent,
            boolean once,
            Optional<Integer> maxIterations,
            Optional<Json> context,
            Optional<Parent> parent,
            Optional<String> session)
            implements ThreadFact {
        /** A thread without a parent, whose idempotency keys are derived from its own id. */
        public RunStarted(int rules, String agent, boolean once, Optional<Integer> maxIterations) {
            this(rules, agent, once, maxIterations, Optional.empty(), Optional.empty(), Optional.empty());
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.runStarted(this);
        }
    }

    /** The agent's definition was requested. */
    record AgentRequested() implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentRequested(this);
        }
    }

    /** The agent's definition arrived and is recorded. */
    record AgentResolved(AgentPolicy terms) implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentResolved(this);
        }
    }

    /** The agent does not exist or cannot be used. */
    record AgentRefused(Problem problem) implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.agentRefused(this);
        }
    }

    /** A timer fired, so the waiting time of a call may be over. */
    record TimePassed() implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.timePassed(this);
        }
    }

    /** The cancellation of the thread and its running work was requested. */
    record CancelRequested() implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.cancelRequested(this);
        }
    }

    /** A message, or the context of a new thread, could not be used and was ignored. */
    record MessageIgnored(String signal, Problem problem) implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.messageIgnored(this);
        }
    }

    /** The conversation cannot grow any further until it is cleared. */
    record LimitReached(Problem problem) implements ThreadFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.limitReached(this);
        }
    }
}
