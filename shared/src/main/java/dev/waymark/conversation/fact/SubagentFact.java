package dev.waymark.conversation.fact;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import java.util.Optional;

/** A fact about subagents, or about the parent of this thread. */
public sealed interface SubagentFact extends Fact {
    /** The start of a subagent's thread was requested, to execute a call within this budget. */
    record SubagentStarted(String callId, Optional<Budget> budget) implements SubagentFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentStarted(this);
        }
    }

    /**
     * No thread could be started for a call. If {@code exists}, a thread with its id exists already, and may have taken
     * effect.
     */
    record SubagentNotStarted(String callId, boolean exists, String reason) implements SubagentFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentNotStarted(this);
        }
    }

    /**
     * A subagent's thread ended.
     *
     * @param status the status of the thread's last turn, or of the thread itself
     * @param text the thread's final reply
     * @param spent the thread's total spending, if it is known
     * @param untrusted whether its reply may have been written under the influence of untrusted words
     */
    record SubagentFinished(
            String callId,
            String status,
            String text,
            Optional<Problem> problem,
            Optional<Spent> spent,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted)
            implements SubagentFact {
        public SubagentFinished(
                String callId, String status, String text, Optional<Problem> problem, Optional<Spent> spent) {
            this(callId, status, text, problem, spent, false);
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentFinished(this);
        }
    }

    /** A subagent's thread reported its progress. */
    record SubagentReported(String callId, SubagentProgress report) implements SubagentFact, Fact.Inbound {
        @Override
        public String signal() {
            return SignalNames.SUBAGENT;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.subagentReported(this);
        }
    }

    /** The oldest undelivered decision was sent to the subagent's thread that executes this call. */
    record DecisionPassedOn(String callId) implements SubagentFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.decisionPassedOn(this);
        }
    }

    /** This thread's progress was reported to its parent. */
    record ParentTold(SubagentProgress report) implements SubagentFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.parentTold(this);
        }
    }

    /** The run cannot grow any further, and the next run cannot wait for the subagents that this one started. */
    record SubagentsCutOff(Problem problem) implements SubagentFact {
        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentsCutOff(this);
        }
    }
}
