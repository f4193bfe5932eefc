package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.InputForm;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.state.Grants;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Decides whether an inbound fact is admitted in the current state. Update validators and the fold both use it, so they
 * always agree.
 */
final class Admission implements Fact.InboundCases<Optional<Problem>> {
    private static final String FULL = "the conversation is full; clear it, or go on in a new thread";

    private final Conversation state;
    private final Instant at;

    private Admission(Conversation state, Instant at) {
        this.state = state;
        this.at = at;
    }

    /** Why a fact is refused; empty if it is admitted. */
    static Optional<Problem> refusal(Conversation state, Fact.Inbound fact, Instant at) {
        return fact.match(new Admission(state, at));
    }

    /**
     * Refuses the fact if the thread is being cancelled or the message has arrived before. Otherwise applies the
     * further check. Not used for restored claims and reports of subagents, since a cancelled thread still admits them.
     */
    private Optional<Problem> unlessOver(Fact.Inbound fact, Supplier<Optional<Problem>> further) {
        if (state.life() == ThreadIdentity.Life.CANCELLED) {
            return refused(ProblemType.CLOSED, "the thread is being cancelled");
        }
        Optional<String> id = fact.messageId();
        if (id.isPresent() && state.seen().contains(id.get())) {
            return refused(ProblemType.DUPLICATE, "a message with id " + id.get() + " arrived before");
        }
        return further.get();
    }

    @Override
    public Optional<Problem> userSpoke(PersonFact.UserSpoke fact) {
        return unlessOver(fact, () -> message(state, fact));
    }

    @Override
    public Optional<Problem> humanAnswered(PersonFact.HumanAnswered fact) {
        return unlessOver(fact, () -> answer(state, fact));
    }

    @Override
    public Optional<Problem> approvalDecided(PersonFact.ApprovalDecided fact) {
        return unlessOver(fact, () -> decision(state, fact, at));
    }

    @Override
    public Optional<Problem> grantRevoked(PersonFact.GrantRevoked fact) {
        return unlessOver(fact, () -> revocation(state, fact));
    }

    @Override
    public Optional<Problem> outcomeSettled(PersonFact.OutcomeSettled fact) {
        return unlessOver(fact, () -> settlement(state, fact));
    }

    @Override
    public Optional<Problem> budgetRaised(PersonFact.BudgetRaised fact) {
        return unlessOver(fact, () -> budget(state, fact));
    }

    @Override
    public Optional<Problem> stopped(PersonFact.Stopped fact) {
        return unlessOver(
                fact,
                () -> state.turn().isRunning()
                        ? Optional.empty()
                        : refused(ProblemType.NOT_FOUND, "no turn is running"));
    }

    @Override
    public Optional<Problem> cleared(PersonFact.Cleared fact) {
        return unlessOver(fact, Optional::empty);
    }

    @Override
    public Optional<Problem> closeRequested(PersonFact.CloseRequested fact) {
        return unlessOver(fact, Optional::empty);
    }

    @Override
    public Optional<Problem> toolClaimed(ToolFact.ToolClaimed fact) {
        return fact.restored() ? restored(state, fact) : unlessOver(fact, () -> claim(state, fact, at));
    }

    @Override
    public Optional<Problem> toolEndedLate(ToolFact.ToolEndedLate fact) {
        return unlessOver(fact, () -> lateEnd(state, fact));
    }

    @Override
    public Optional<Problem> subagentReported(SubagentFact.SubagentReported fact) {
        return report(state, fact);
    }

    private static Optional<Problem> message(Conversation state, PersonFact.UserSpoke spoke) {
        if (state.life() == ThreadIdentity.Life.CLOSING) {
            return refused(ProblemType.CLOSED, "the thread is closing");
        }
        if (spoke.replacement().isPresent()) {
            return Pairing.violation(spoke.replacement().get())
                    .map(violation -> new Problem(ProblemType.CORRUPTION, violation));
        }
        if (state.full()) {
            return refused(ProblemType.TOO_LARGE, FULL);
        }
        if (spoke.content().isPresent()) {
            return Optional.empty();
        }
        if (state.turn().isRunning()) {
            return refused(
                    ProblemType.BAD_INPUT,
                    state.isInterrupted() ? "the turn waits for a person" : "the turn is still running");
        }
        if (spoke.retry() && !state.turn().canContinue()) {
            return refused(ProblemType.NOT_FOUND, "no failed or stopped turn to retry");
        }
        return state.isBlank()
                ? refused(ProblemType.BAD_INPUT, "there is no message, and nothing was said before")
                : Optional.empty();
    }

    private static Optional<Problem> answer(Conversation state, PersonFact.HumanAnswered answered) {
        List<PendingItem> questions = asks(state, PendingItem.Kind.QUESTION);
        if (answered.callId().isEmpty()) {
            if (questions.isEmpty()) {
                return refused(ProblemType.NOT_FOUND, "no question is open");
            }
            return questions.size() == 1
                    ? misfit(questions.get(0), answered)
                    : refused(ProblemType.CALL_REQUIRED, "several questions are open: " + ids(questions));
        }
        String callId = answered.callId().get();
        Optional<PendingItem> question = ask(questions, callId);
        if (question.isPresent()) {
            return misfit(question.get(), answered);
        }
        Optional<Call> call = state.calls().get(callId);
        if (call.isEmpty()) {
            return notAskedBelow(state, callId);
        }
        return call.get().question().isPresent()
                ? refused(ProblemType.ALREADY_DECIDED, "call " + callId + " is not open any more")
                : refused(ProblemType.NOT_FOUND, "call " + callId + " asks nothing");
    }

    /** Why the answer does not fit the question; empty if it does. */
    static Optional<Problem> misfit(PendingItem question, PersonFact.HumanAnswered answered) {
        if (question.form().isEmpty()) {
            return answered.action().filter(how -> how != FormAction.ACCEPT).isEmpty()
                    ? Optional.empty()
                    : refused(
                            ProblemType.BAD_INPUT,
                            "call " + question.callId() + " asks a question that can only be answered, because no form"
                                    + " of a server asks it");
        }
        if (answered.action().orElse(FormAction.ACCEPT) != FormAction.ACCEPT) {
            return Optional.empty();
        }
        return new InputForm(question.form().get())
                .misfit(answered.answer(), answered.fields())
                .map(why -> new Problem(ProblemType.BAD_INPUT, "call " + question.callId() + ": " + why));
    }

    /**
     * The request that an answer or a decision refers to: the request of the named call or, without a name, the first
     * request of this kind.
     */
    static Optional<PendingItem> meant(Conversation state, PendingItem.Kind kind, Optional<String> callId) {
        List<PendingItem> asks = asks(state, kind);
        return callId.isEmpty() ? asks.stream().findFirst() : ask(asks, callId.get());
    }

    private static List<PendingItem> asks(Conversation state, PendingItem.Kind kind) {
        return state.asks().stream().filter(ask -> ask.kind() == kind).toList();
    }

    private static Optional<PendingItem> ask(List<PendingItem> asks, String callId) {
        return asks.stream().filter(ask -> ask.callId().equals(callId)).findFirst();
    }

    private static Optional<Problem> notAskedBelow(Conversation state, String callId) {
        Optional<Call> above = state.callBook().above(callId);
        boolean asked = above.flatMap(Call::subagent)
                .filter(known ->
                        known.wasAsked(callId.substring(above.get().id().length() + 1)))
                .isPresent();
        return asked
                ? refused(ProblemType.ALREADY_DECIDED, "call " + callId + " is not open any more")
                : refused(ProblemType.NOT_FOUND, "no call " + callId + " in this thread");
    }

    private static Optional<Problem> decision(Conversation state, PersonFact.ApprovalDecided decided, Instant at) {
        List<PendingItem> awaiting = asks(state, PendingItem.Kind.APPROVAL);
        if (decided.callId().isEmpty() && awaiting.size() != 1) {
            return awaiting.isEmpty()
                    ? refused(ProblemType.NOT_FOUND, "no call waits for approval")
                    : refused(ProblemType.CALL_REQUIRED, "several calls wait for approval: " + ids(awaiting));
        }
        Optional<PendingItem> awaited = meant(state, PendingItem.Kind.APPROVAL, decided.callId());
        if (awaited.isEmpty()) {
            return notAwaited(state, decided.callId().orElseThrow());
        }
        if ((decided.approved() || decided.signature().isPresent())
                && state.policy().isEmpty()) {
            return refused(ProblemType.BAD_INPUT, "the agent is being looked up");
        }
        String digest = awaited.get().argsDigest().orElseThrow();
        if (decided.argsDigest().filter(shown -> !shown.equals(digest)).isPresent()) {
            return refused(
                    ProblemType.ARGS_CHANGED,
                    "the decision is about other arguments" + (awaited.get().toolChanged() ? ", or another tool," : "")
                            + " than those of call " + awaited.get().callId() + ", whose digest is " + digest);
        }
        if (decided.grant().isPresent()) {
            if (!decided.approved()) {
                return refused(ProblemType.BAD_INPUT, "a denial does not decide about later calls");
            }
            if (state.grants().isFull(at)) {
                return refused(
                        ProblemType.BAD_INPUT,
                        "this thread has " + Grants.MAX + " grants, which is the maximum: revoke one of them first");
            }
        }
        if (decided.args().isPresent()) {
            Json args = decided.args().get();
            if (!decided.approved()) {
                return refused(ProblemType.BAD_INPUT, "a denial takes no arguments");
            }
            if (awaited.get().mayHaveRun()) {
                return refused(
                        ProblemType.BAD_INPUT,
                        "call " + awaited.get().callId() + " comes from a file and may have run with its own arguments:"
                                + " approve it as it is, or deny it");
            }
            if (!args.isObject()) {
                return refused(ProblemType.BAD_INPUT, "the arguments must be an object");
            }
            if (args.canonical().length() > CallRules.MAX_ARGS_LENGTH) {
                return refused(ProblemType.TOO_LARGE, "the arguments are too large");
            }
        }
        return SignatureRules.objection(awaited.get(), decided);
    }

    private static Optional<Problem> revocation(Conversation state, PersonFact.GrantRevoked revoked) {
        Optional<Grant> grant = state.grants().find(revoked.grant());
        if (grant.isEmpty()) {
            return refused(ProblemType.NOT_FOUND, "no grant " + revoked.grant() + " in this thread");
        }
        return grant.get().ended().isEmpty()
                ? Optional.empty()
                : refused(ProblemType.ALREADY_DECIDED, "grant " + revoked.grant() + " has ended");
    }

    private static Optional<Problem> notAwaited(Conversation state, String callId) {
        Optional<Call> call = state.calls().get(callId);
        if (call.isEmpty()) {
            return notAskedBelow(state, callId);
        }
        return call.get().approval().isPresent()
                ? refused(ProblemType.ALREADY_DECIDED, "call " + callId + " was decided before")
                : refused(ProblemType.NOT_FOUND, "call " + callId + " waits for no approval");
    }

    private static Optional<Problem> settlement(Conversation state, PersonFact.OutcomeSettled settled) {
        String callId = settled.callId();
        Optional<PendingItem> ask = meant(state, PendingItem.Kind.UNKNOWN, Optional.of(callId));
        Optional<Call> call = state.calls().get(callId);
        if (ask.isEmpty() && call.isEmpty()) {
            return notAskedBelow(state, callId);
        }
        if (ask.isEmpty()) {
            return call.get().settlement().isPresent()
                            || (call.get().claim().isPresent() && !call.get().isOpen())
                    ? refused(ProblemType.ALREADY_DECIDED, "the outcome of call " + callId + " is settled")
                    : refused(ProblemType.NOT_FOUND, "the outcome of call " + callId + " is not in question");
        }
        if (state.policy().isEmpty()) {
            return refused(ProblemType.BAD_INPUT, "the agent is being looked up");
        }
        Optional<String> noRerun = ask.get().whyNoRerun();
        if (settled.settlement() == CallSettlement.Outcome.RERUN && noRerun.isPresent()) {
            return refused(ProblemType.BAD_INPUT, ask.get().tool() + " can't be run again: " + noRerun.get());
        }
        return SignatureRules.objection(ask.get(), settled);
    }

    private static Optional<Problem> lateEnd(Conversation state, ToolFact.ToolEndedLate late) {
        Optional<Call> call = state.calls().get(late.callId());
        if (call.isEmpty()) {
            return refused(ProblemType.NOT_FOUND, "no call " + late.callId() + " in this thread");
        }
        return call.get().awaitsReportOf(late.execution())
                ? Optional.empty()
                : refused(ProblemType.ALREADY_DECIDED, "nobody waits for that execution of call " + late.callId());
    }

    private static Optional<Problem> report(Conversation state, SubagentFact.SubagentReported reported) {
        boolean awaited = state.calls()
                .get(reported.callId())
                .flatMap(Call::subagent)
                .filter(known -> !known.over())
                .isPresent();
        return awaited
                ? Optional.empty()
                : refused(ProblemType.NOT_FOUND, "no subagent is at work on call " + reported.callId());
    }

    /**
     * Admits only the first claim for the open dispatch of a call. A call that runs by a grant can be claimed only
     * while the grant is in force, even if it was dispatched earlier. Admits only claims that are also granted, because
     * a reset reapplies every admitted claim.
     */
    private static Optional<Problem> claim(Conversation state, ToolFact.ToolClaimed claimed, Instant at) {
        Optional<Call> call = state.calls().get(claimed.callId());
        if (call.isEmpty()) {
            return refused(ProblemType.NOT_FOUND, "no call " + claimed.callId() + " in this thread");
        }
        if (!isOfOpenDispatch(call.get(), claimed)) {
            return refused(
                    ProblemType.ALREADY_DECIDED,
                    "dispatch " + claimed.dispatch() + " of call " + claimed.callId() + " is not open");
        }
        if (ApprovalRules.isGrantOver(state.grants(), call.get(), at)) {
            return refused(
                    ProblemType.ALREADY_DECIDED,
                    "the grant that let call " + claimed.callId() + " run is over, so a person decides about it");
        }
        return withEffect(state, claimed);
    }

    /**
     * Admits a claim that was granted before a reset, in any status of the call. If the agent is known, the tool must
     * need claims.
     */
    private static Optional<Problem> restored(Conversation state, ToolFact.ToolClaimed claimed) {
        return state.policy().isEmpty() ? Optional.empty() : withEffect(state, claimed);
    }

    private static Optional<Problem> withEffect(Conversation state, ToolFact.ToolClaimed claimed) {
        return state.policy().orElseThrow().policyOf(claimed.tool()).effect()
                ? Optional.empty()
                : refused(ProblemType.BAD_INPUT, "the tool " + claimed.tool() + " needs no claim");
    }

    static boolean isOfOpenDispatch(Call call, ToolFact.ToolClaimed claimed) {
        return call.status() == Call.Status.DISPATCHED
                && call.dispatches() == claimed.dispatch()
                && isOfCall(call, claimed);
    }

    static boolean isOfCall(Call call, ToolFact.ToolClaimed claimed) {
        return call.tool().equals(claimed.tool()) && call.argsDigest().equals(claimed.argsDigest());
    }

    private static Optional<Problem> budget(Conversation state, PersonFact.BudgetRaised raised) {
        boolean limitsAreKnown = state.policy().isPresent();
        if (state.iterationLimit().isEmpty() || (raised.iterations().isEmpty() && !limitsAreKnown)) {
            return refused(ProblemType.BAD_INPUT, "the limit is not known yet: the agent is being looked up");
        }
        if (state.full() && state.turn().endedOnLimit()) {
            return refused(ProblemType.TOO_LARGE, FULL);
        }
        if (raised.iterations().isEmpty() && !state.limits().has(raised.budget())) {
            return refused(ProblemType.BAD_INPUT, "this thread has no such limit");
        }
        int limit = state.iterationLimit().get();
        if (raised.iterations().filter(most -> most <= limit).isPresent()) {
            return refused(ProblemType.BAD_INPUT, "the limit of iterations is " + limit + " already");
        }
        Budget after = state.limits().raisedTo(raised.budget());
        Budget granted = state.parent().flatMap(Parent::budget).orElse(Budget.UNLIMITED);
        if (!after.equals(after.and(granted))) {
            return refused(
                    ProblemType.BAD_INPUT,
                    "a subagent's thread may spend no more than the thread above has set aside for it");
        }
        return state.limits()
                .objection(raised.budget(), state.spent())
                .map(words -> new Problem(ProblemType.BAD_INPUT, words));
    }

    private static String ids(List<PendingItem> asks) {
        return asks.stream().map(PendingItem::callId).collect(Collectors.joining(", "));
    }

    private static Optional<Problem> refused(String type, String message) {
        return Optional.of(new Problem(type, message));
    }
}
