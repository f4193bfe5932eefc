package dev.waymark.conversation.fact;

import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import java.util.Optional;

/** A fact about subagents, or about the thread that started this one. */
public sealed interface SubagentFact extends Fact {
    /** A subagent was asked to execute a call, with this budget. */
    record SubagentStarted(String callId, Optional<Budget> budget) implements SubagentFact {
        @Override
        public String type() {
            return "subagent-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentStarted(this);
        }
    }

    /** No thread was started for a call. {@code exists}: there is a thread with its name, whose effects are unknown. */
    record SubagentNotStarted(String callId, boolean exists, String reason) implements SubagentFact {
        @Override
        public String type() {
            return "subagent-not-started";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentNotStarted(this);
        }
    }

    /**
     * A subagent's thread ended.
     *
     * @param status the status of its last turn, or of the thread itself
     * @param text its final reply
     * @param spent its total spending, if it could still report it
     */
    record SubagentFinished(String callId, String status, String text, Optional<Problem> problem, Optional<Spent> spent)
            implements SubagentFact {
        @Override
        public String type() {
            return "subagent-finished";
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
        public String type() {
            return "subagent-reported";
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.subagentReported(this);
        }
    }

    /** The oldest decision for a subagent's thread was passed on. */
    record DecisionPassedOn(String callId) implements SubagentFact {
        @Override
        public String type() {
            return "decision-passed-on";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.decisionPassedOn(this);
        }
    }

    /** The parent thread was told this thread's progress. */
    record ParentTold(SubagentProgress report) implements SubagentFact {
        @Override
        public String type() {
            return "parent-told";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.parentTold(this);
        }
    }

    /** The thread can no longer wait for its subagents. */
    record SubagentsCutOff(Problem problem) implements SubagentFact {
        @Override
        public String type() {
            return "subagents-cut-off";
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.subagentsCutOff(this);
        }
    }
}
