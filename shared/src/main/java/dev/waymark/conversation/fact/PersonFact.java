package dev.waymark.conversation.fact;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.DecisionStatement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.VerifiedSubject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Something that a person, or a program on their behalf, sends to the thread. Senders build it, the thread records it.
 *
 * <p>{@link #payload} is its only form on the wire. {@code InboundDecoder} reads that form, and checks its limits for
 * the thread and for senders. {@code watch} prints the components.
 */
public sealed interface PersonFact extends Fact.Inbound {
    /**
     * The fields of the signal or update, as JSON-compatible values. Omits absent fields. Update ids are digests of
     * these fields in this order.
     */
    Map<String, Object> payload();

    /** A copy with this id, for messages whose id the thread records. Returns other messages unchanged. */
    default PersonFact withId(String id) {
        return this;
    }

    /** A copy with the name of the sender. Returns a message to the model unchanged, since it has no sender. */
    PersonFact withBy(String who);

    /** A decision about a call, which the agent may require to be signed. */
    sealed interface Decision extends PersonFact {
        /** The name that the decision states. */
        Optional<String> by();

        /** The signature of {@link #by}, if decisions must be signed. */
        Optional<String> signature();

        /** The person who decided, if a server verified them. */
        Optional<VerifiedSubject> verified();

        /** The result of the call, if the decision states one. */
        default Optional<String> result() {
            return Optional.empty();
        }

        /** The statement that the signature must cover if the decision is about this request. */
        DecisionStatement statement(Signers signers, PendingItem ask);

        @Override
        Decision withBy(String who);

        /** A copy with the signature of {@link #by}. */
        Decision withSignature(String text);

        /** A copy with the identity of the person, which the sender has verified. */
        Decision withVerified(VerifiedSubject subject);
    }

    /**
     * Someone sent a message, replaced the conversation, or requested a retry of the last turn.
     *
     * @param schema the JSON Schema that the turn's final reply must match
     * @param untrusted whether the message has words that its sender did not write, such as a mail or the state of a page
     */
    record UserSpoke(
            Optional<String> id,
            Optional<List<Message>> replacement,
            Optional<Message> content,
            boolean retry,
            Optional<Json> schema,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted)
            implements PersonFact {
        public UserSpoke(
                Optional<String> id,
                Optional<List<Message>> replacement,
                Optional<Message> content,
                boolean retry,
                Optional<Json> schema) {
            this(id, replacement, content, retry, schema, false);
        }

        public UserSpoke(
                Optional<String> id, Optional<List<Message>> replacement, Optional<Message> content, boolean retry) {
            this(id, replacement, content, retry, Optional.empty());
        }

        /** A message to the model. */
        public static UserSpoke message(String text) {
            return of(Message.user(text));
        }

        /** A message to the model, of text and images. */
        public static UserSpoke of(Message message) {
            return new UserSpoke(Optional.empty(), Optional.empty(), Optional.of(message), false);
        }

        /** A message to the model, with an id. */
        public static UserSpoke message(String id, String text) {
            return message(text).withId(id);
        }

        /** The request to run the last turn again, which must have failed or been stopped. */
        public static UserSpoke retrying() {
            return new UserSpoke(Optional.empty(), Optional.empty(), Optional.empty(), true);
        }

        /** Messages that replace the conversation. An empty list clears it. */
        public static UserSpoke replacing(List<Message> messages) {
            return new UserSpoke(Optional.empty(), Optional.of(messages), Optional.empty(), false);
        }

        /** A copy with a JSON Schema for the turn's final reply. */
        public UserSpoke withSchema(Json wanted) {
            return new UserSpoke(id, replacement, content, retry, Optional.of(wanted), untrusted);
        }

        /** A copy of a message that has words of others. */
        public UserSpoke withUntrusted(boolean words) {
            return new UserSpoke(id, replacement, content, retry, schema, words);
        }

        @Override
        public UserSpoke withId(String own) {
            return new UserSpoke(Optional.of(own), replacement, content, retry, schema, untrusted);
        }

        @Override
        public UserSpoke withBy(String who) {
            return this;
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("id", id)
                    .put("content", content.map(Message::text).filter(text -> !text.isEmpty() || images().isEmpty()))
                    .put(
                            "messages",
                            replacement.map(messages ->
                                    messages.stream().map(UserSpoke::brief).toList()))
                    .put("retry", retry)
                    .put("schema", schema)
                    .put("images", images())
                    .put("untrusted", untrusted)
                    .done();
        }

        /** The parts of the message besides its text. */
        private Optional<List<Map<String, Object>>> images() {
            return content.map(message -> message.content().stream()
                            .filter(part -> !(part instanceof Part.Text))
                            .map(Part::tree)
                            .toList())
                    .filter(parts -> !parts.isEmpty());
        }

        /** A message in the short form, if it has one: a single text stands for a list with one part. */
        private static Map<String, Object> brief(Message message) {
            Map<String, Object> tree = message.tree();
            if (message.content().size() == 1 && message.content().get(0) instanceof Part.Text text) {
                tree.put("content", text.text());
            }
            return tree;
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

    /**
     * Someone answered a question: that of {@code callId}, or the only open one.
     *
     * @param action whether the form of a tool's server is filled in or refused
     * @param fields the answer as a JSON object, if it is one; not part of the payload, since it is derived from the
     *     answer
     */
    record HumanAnswered(
            Optional<String> id,
            Optional<String> callId,
            String answer,
            Optional<String> by,
            Optional<FormAction> action,
            Optional<Json> fields)
            implements PersonFact {
        /** An answer as text. */
        public HumanAnswered(Optional<String> id, Optional<String> callId, String answer, Optional<String> by) {
            this(id, callId, answer, by, Optional.empty(), Optional.empty());
        }

        /** An answer to the question of this call. */
        public static HumanAnswered to(Optional<String> callId, String answer) {
            return new HumanAnswered(Optional.empty(), callId, answer, Optional.empty());
        }

        /** A refusal to fill in the form that the server of this call shows. */
        public static HumanAnswered refusing(Optional<String> callId, FormAction action) {
            return new HumanAnswered(
                    Optional.empty(), callId, "", Optional.empty(), Optional.of(action), Optional.empty());
        }

        @Override
        public HumanAnswered withId(String own) {
            return new HumanAnswered(Optional.of(own), callId, answer, by, action, fields);
        }

        @Override
        public HumanAnswered withBy(String who) {
            return new HumanAnswered(id, callId, answer, Optional.of(who), action, fields);
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("id", id)
                    .put("callId", callId)
                    .put("answer", answer)
                    .put("by", by)
                    .put("action", action.map(FormAction::wireName))
                    .done();
        }

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
     * Someone decided about a call that waits for approval: {@code callId}, or the only one that waits.
     *
     * @param args the arguments that replace the model's
     * @param argsDigest the digest of the arguments that the decision is about, so that it cannot apply to other
     *     arguments
     * @param by the name that the decision states
     * @param grant which later calls the approval also lets run, if any
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
            Optional<VerifiedSubject> verified,
            Optional<GrantTerms> grant)
            implements Decision {
        /** An unsigned decision whose sender was not verified. */
        public ApprovalDecided(
                boolean approved,
                Optional<String> id,
                Optional<String> callId,
                Optional<Json> args,
                Optional<String> argsDigest,
                Optional<String> by,
                Optional<String> reason) {
            this(
                    approved,
                    id,
                    callId,
                    args,
                    argsDigest,
                    by,
                    reason,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());
        }

        /** An approval of the call as it was requested, or a denial. */
        public static ApprovalDecided of(boolean approved) {
            return new ApprovalDecided(
                    approved,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());
        }

        @Override
        public ApprovalDecided withId(String own) {
            return with(edit -> edit.id = Optional.of(own));
        }

        /** Applies the decision to this call. Without a call, the decision applies to the only one that waits. */
        public ApprovalDecided withCall(String call) {
            return with(edit -> edit.callId = Optional.of(call));
        }

        /** Approves the call with these arguments. */
        public ApprovalDecided withArgs(Json replaced) {
            return with(edit -> edit.args = Optional.of(replaced));
        }

        /** Restricts the decision to the arguments with this digest, which are the ones that were shown. */
        public ApprovalDecided withDigest(String shown) {
            return with(edit -> edit.argsDigest = Optional.of(shown));
        }

        /** Approves later calls, too. */
        public ApprovalDecided granting(GrantTerms terms) {
            return with(edit -> edit.grant = Optional.of(terms));
        }

        /** Names who decided. */
        @Override
        public ApprovalDecided withBy(String who) {
            return with(edit -> edit.by = Optional.of(who));
        }

        /** Adds a reason of at most 4,000 characters. The model is told the reason of a denial. */
        public ApprovalDecided withReason(String words) {
            return with(edit -> edit.reason = Optional.of(words));
        }

        @Override
        public ApprovalDecided withSignature(String text) {
            return with(edit -> edit.signature = Optional.of(text));
        }

        @Override
        public ApprovalDecided withVerified(VerifiedSubject subject) {
            return with(edit -> edit.verified = Optional.of(subject));
        }

        private ApprovalDecided with(Consumer<Edit> change) {
            Edit edit = new Edit();
            change.accept(edit);
            return edit.done();
        }

        private final class Edit {
            private Optional<String> id = ApprovalDecided.this.id;
            private Optional<String> callId = ApprovalDecided.this.callId;
            private Optional<Json> args = ApprovalDecided.this.args;
            private Optional<String> argsDigest = ApprovalDecided.this.argsDigest;
            private Optional<String> by = ApprovalDecided.this.by;
            private Optional<String> reason = ApprovalDecided.this.reason;
            private Optional<String> signature = ApprovalDecided.this.signature;
            private Optional<VerifiedSubject> verified = ApprovalDecided.this.verified;
            private Optional<GrantTerms> grant = ApprovalDecided.this.grant;

            private ApprovalDecided done() {
                return new ApprovalDecided(
                        approved, id, callId, args, argsDigest, by, reason, signature, verified, grant);
            }
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("id", id)
                    .put("callId", callId)
                    .put("args", args)
                    .put("argsDigest", argsDigest)
                    .put("reason", reason)
                    .put("signature", signature)
                    .put("by", by)
                    .put("verified", verified.map(VerifiedSubject::tree))
                    .put("grant", grant.map(GrantTerms::tree))
                    .done();
        }

        @Override
        public DecisionStatement statement(Signers signers, PendingItem ask) {
            return DecisionStatement.about(
                            signers, ask.since(), ask.argsDigest(), signal(), args, reason, Optional.empty(), by)
                    .granting(grant);
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

    /** Someone ended a grant before its time. */
    record GrantRevoked(int grant, Optional<String> by) implements PersonFact {
        /** Revokes the grant with this number. */
        public static GrantRevoked of(int grant) {
            return new GrantRevoked(grant, Optional.empty());
        }

        @Override
        public GrantRevoked withBy(String who) {
            return new GrantRevoked(grant, Optional.of(who));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("grant", Optional.of(grant))
                    .put("by", by)
                    .done();
        }

        @Override
        public String signal() {
            return SignalNames.REVOKE;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.grantRevoked(this);
        }
    }

    /**
     * Someone settled a call with an unknown outcome.
     *
     * @param result the result of the call, as shown to the model; only if it took effect
     * @param note what the person noted, as evidence; kept with the call, and not shown to the model
     */
    record OutcomeSettled(
            String callId,
            CallSettlement.Outcome settlement,
            Optional<String> result,
            Optional<String> by,
            Optional<String> note,
            Optional<String> signature,
            Optional<VerifiedSubject> verified)
            implements Decision {
        /** A settlement without a note and a signature, whose sender was not verified. */
        public OutcomeSettled(
                String callId, CallSettlement.Outcome settlement, Optional<String> result, Optional<String> by) {
            this(callId, settlement, result, by, Optional.empty(), Optional.empty(), Optional.empty());
        }

        /** Sets the result of the call, as shown to the model. */
        public OutcomeSettled withResult(String text) {
            return new OutcomeSettled(callId, settlement, Optional.of(text), by, note, signature, verified);
        }

        /** Names who settled the call. */
        @Override
        public OutcomeSettled withBy(String who) {
            return new OutcomeSettled(callId, settlement, result, Optional.of(who), note, signature, verified);
        }

        /** Adds a note of at most 4,000 characters. */
        public OutcomeSettled withNote(String text) {
            return new OutcomeSettled(callId, settlement, result, by, Optional.of(text), signature, verified);
        }

        @Override
        public OutcomeSettled withSignature(String text) {
            return new OutcomeSettled(callId, settlement, result, by, note, Optional.of(text), verified);
        }

        @Override
        public OutcomeSettled withVerified(VerifiedSubject subject) {
            return new OutcomeSettled(callId, settlement, result, by, note, signature, Optional.of(subject));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("callId", callId)
                    .put("outcome", settlement.wireName())
                    .put("result", result)
                    .put("note", note)
                    .put("signature", signature)
                    .put("by", by)
                    .put("verified", verified.map(VerifiedSubject::tree))
                    .done();
        }

        @Override
        public DecisionStatement statement(Signers signers, PendingItem ask) {
            return DecisionStatement.about(
                    signers, ask.since(), ask.argsDigest(), settlement.wireName(), Optional.empty(), result, note, by);
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

        /** Raises the limit of model calls per turn. */
        public static BudgetRaised toIterations(int most) {
            return new BudgetRaised(Optional.of(most), Optional.empty());
        }

        /** Raises the limits of the thread's cost and tokens. */
        public static BudgetRaised to(Budget most) {
            return new BudgetRaised(Optional.empty(), most, Optional.empty());
        }

        @Override
        public BudgetRaised withBy(String who) {
            return new BudgetRaised(iterations, budget, Optional.of(who));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields()
                    .put("usd", budget.usd().map(Usd::dollars))
                    .put("tokens", budget.tokens())
                    .put("iterations", iterations)
                    .put("by", by)
                    .done();
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

    /**
     * Someone ended the turn.
     *
     * @param said the partial reply at that time. It is only for people: no rule reads it, so it enters neither the
     *     state nor a checkpoint
     */
    record Stopped(Optional<String> said, Optional<String> by) implements PersonFact {
        public Stopped(Optional<String> by) {
            this(Optional.empty(), by);
        }

        @Override
        public Stopped withBy(String who) {
            return new Stopped(said, Optional.of(who));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields().put("said", said).put("by", by).done();
        }

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
        public Cleared withBy(String who) {
            return new Cleared(all, Optional.of(who));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields().put("all", all).put("by", by).done();
        }

        @Override
        public String signal() {
            return SignalNames.CLEAR;
        }

        @Override
        public <R> R match(InboundCases<R> cases) {
            return cases.cleared(this);
        }
    }

    /** Someone requested that the thread close as soon as no turn is running. */
    record CloseRequested(Optional<String> by) implements PersonFact {
        @Override
        public CloseRequested withBy(String who) {
            return new CloseRequested(Optional.of(who));
        }

        @Override
        public Map<String, Object> payload() {
            return new PayloadFields().put("by", by).done();
        }

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
