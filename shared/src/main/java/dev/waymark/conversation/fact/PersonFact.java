package dev.waymark.conversation.fact;

import dev.waymark.conversation.call.CallSettlement;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.VerifiedSubject;
import java.util.List;
import java.util.Optional;

/** Something that a person, or a program on their behalf, sent to the thread. */
public sealed interface PersonFact extends Fact.Inbound {
    /**
     * Someone sent a message, replaced the conversation, or wants the last turn to be retried.
     *
     * @param schema the JSON Schema that the turn's final reply must match
     */
    record UserSpoke(
            Optional<String> id,
            Optional<List<Message>> replacement,
            Optional<Message> content,
            boolean retry,
            Optional<Json> schema)
            implements PersonFact {
        public UserSpoke(
                Optional<String> id, Optional<List<Message>> replacement, Optional<Message> content, boolean retry) {
            this(id, replacement, content, retry, Optional.empty());
        }

        @Override
        public String signal() {
            return SignalNames.SAY;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.userSpoke(this);
        }
    }

    /** Someone answered a question. */
    record HumanAnswered(Optional<String> id, Optional<String> callId, String answer, Optional<String> by)
            implements PersonFact {
        @Override
        public String signal() {
            return SignalNames.ANSWER;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.humanAnswered(this);
        }
    }

    /**
     * Someone decided about a call that waits for approval.
     *
     * @param args the arguments that replace the model's
     * @param argsDigest the digest of the arguments that the decision is about, so that it cannot apply to other
     *     arguments
     * @param signature the signature of {@code by}, if decisions must be signed
     * @param verified the person who decided, if a server verified them
     */
    record ApprovalDecided(
            boolean approved,
            Optional<String> id,
            Optional<String> callId,
            Optional<Json> args,
            Optional<String> argsDigest,
            Optional<String> by,
            Optional<String> reason,
            Optional<String> signature,
            Optional<VerifiedSubject> verified)
            implements PersonFact {
        /** A decision whose sender was not verified. */
        public ApprovalDecided(
                boolean approved,
                Optional<String> id,
                Optional<String> callId,
                Optional<Json> args,
                Optional<String> argsDigest,
                Optional<String> by,
                Optional<String> reason,
                Optional<String> signature) {
            this(approved, id, callId, args, argsDigest, by, reason, signature, Optional.empty());
        }

        /** An unsigned decision whose sender was not verified. */
        public ApprovalDecided(
                boolean approved,
                Optional<String> id,
                Optional<String> callId,
                Optional<Json> args,
                Optional<String> argsDigest,
                Optional<String> by,
                Optional<String> reason) {
            this(approved, id, callId, args, argsDigest, by, reason, Optional.empty());
        }

        @Override
        public String signal() {
            return approved ? SignalNames.APPROVE : SignalNames.DENY;
        }

        @Override
        public Optional<String> messageId() {
            return id;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.approvalDecided(this);
        }
    }

    /**
     * Someone settled a call with an unknown outcome.
     *
     * @param note what the person noted, as evidence
     */
    record OutcomeSettled(
            String callId,
            CallSettlement.Verdict settlement,
            Optional<String> result,
            Optional<String> by,
            Optional<String> note,
            Optional<String> signature,
            Optional<VerifiedSubject> verified)
            implements PersonFact {
        /** A settlement without a note and a signature, whose sender was not verified. */
        public OutcomeSettled(
                String callId, CallSettlement.Verdict settlement, Optional<String> result, Optional<String> by) {
            this(callId, settlement, result, by, Optional.empty(), Optional.empty(), Optional.empty());
        }

        @Override
        public String signal() {
            return SignalNames.SETTLE;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.outcomeSettled(this);
        }
    }

    /** Someone raised a limit. */
    record BudgetRaised(Optional<Integer> iterations, Budget budget, Optional<String> by) implements PersonFact {
        public BudgetRaised(Optional<Integer> iterations, Optional<String> by) {
            this(iterations, Budget.UNLIMITED, by);
        }

        @Override
        public String signal() {
            return SignalNames.BUDGET;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.budgetRaised(this);
        }
    }

    /** Someone ended the turn. */
    record Stopped(Optional<String> by) implements PersonFact {
        @Override
        public String signal() {
            return SignalNames.STOP;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.stopped(this);
        }
    }

    /** Someone deleted the conversation, and with {@code all} also the recorded results of its side effects. */
    record Cleared(boolean all, Optional<String> by) implements PersonFact {
        @Override
        public String signal() {
            return SignalNames.CLEAR;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.cleared(this);
        }
    }

    /** Someone wants the thread to close as soon as no turn is running. */
    record CloseRequested(Optional<String> by) implements PersonFact {
        @Override
        public String signal() {
            return SignalNames.CLOSE;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.closeRequested(this);
        }
    }
}
