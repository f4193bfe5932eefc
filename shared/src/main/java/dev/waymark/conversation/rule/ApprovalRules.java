package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.state.Grants;
import dev.waymark.conversation.value.CallVerdict;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Rules of approvals: which calls need one, and what a denial does to a call. A tool may require approval, and every
 * call that only a file contains requires it. If a tool has rules, their recorded verdict about the arguments decides
 * whether a call needs approval, and may deny it. A grant is an approval that also lets later calls run.
 */
final class ApprovalRules {
    private ApprovalRules() {}

    static boolean isMissingFor(Draft draft, Call call) {
        return isMissingFor(draft.policyOf(call), call) || isGrantOver(draft.book.grants, call, draft.at);
    }

    /** Whether the call needs approval, and neither a decision nor a grant has given it. */
    static boolean isMissingFor(AgentPolicy.ToolPolicy policy, Call call) {
        // A call without a verdict does not need approval yet: the rules may still allow or deny it.
        boolean isRequired = policy.ruled() ? call.isJudged(CallVerdict.Then.ASK) : policy.approval();
        return (isRequired || call.fromFile().isPresent())
                && !call.isApprovedHere()
                && call.grant().isEmpty();
    }

    /** Whether the grant that lets the call run is no longer in force. */
    static boolean isGrantOver(Grants grants, Call call, Instant at) {
        return call.grant().isPresent()
                && call.grant()
                        .flatMap(grants::find)
                        .filter(grant -> grant.isInForce(at))
                        .isEmpty();
    }

    /** Whether rules decide if the call needs approval. */
    static boolean isRuled(Draft draft, Call call) {
        return draft.policyOf(call).ruled();
    }

    /** Whether the verdict in a reply is recorded for this call. */
    static boolean takesVerdict(Draft draft, Call call) {
        return isRuled(draft, call) || draft.policyOf(call).approval();
    }

    /** Whether an activity has to judge the call before it runs or waits for approval. */
    static boolean lacksVerdict(Draft draft, Call call) {
        return (isRuled(draft, call) && call.verdict().isEmpty())
                || (isMissingFor(draft, call) && (isToBeCompared(draft, call) || lacksDefinition(draft, call)));
    }

    private static boolean isToBeCompared(Draft draft, Call call) {
        return call.fromFile().isEmpty() && draft.book.grants.areToBeComparedWith(call, draft.at);
    }

    private static boolean lacksDefinition(Draft draft, Call call) {
        return draft.policyOf(call).changeable() && call.definition().isEmpty();
    }

    /**
     * The call with a verdict. If the verdict lacks the comparison or the definition, records that no grant matches and
     * that the definition is unknown, so that the activity is not repeated forever.
     */
    static Call judged(Draft draft, Call call, CallVerdict verdict) {
        int last = draft.book.grants.last();
        Optional<CallVerdict.Compared> compared = verdict.compared()
                .or(() -> last == 0 ? Optional.empty() : Optional.of(new CallVerdict.Compared(last, List.of())));
        Optional<String> definition = verdict.definition()
                .or(() -> draft.policyOf(call).changeable() ? Optional.of(ToolDefinition.UNKNOWN) : Optional.empty());
        return call.judged(verdict.comparedWith(compared).about(definition));
    }

    static boolean isDeniedByRules(Draft draft, Call call) {
        return isRuled(draft, call) && call.isJudged(CallVerdict.Then.DENY);
    }

    /** Denies a call that the rules deny, even if a person has approved it. */
    static void denyByRules(Draft draft, Call call) {
        draft.book.put(call.ended(Call.Status.DENIED, ToolTexts.deniedByRules(call) + Draft.claimNote(call), draft.at));
    }

    /** Whether the call of a file needs a decision in this thread before anything is done for it, even a check. */
    static boolean isUndecided(Call call) {
        return call.fromFile().filter(mark -> !mark.onlyEffects()).isPresent() && !call.isApprovedHere();
    }

    /** The call, if a grant lets it run. Counts the use of the grant. Ends grants for other definitions of the tool. */
    static Optional<Call> granted(Draft draft, Call call) {
        Optional<Grant> open = call.fromFile().isEmpty() ? draft.book.grants.openFor(call, draft.at) : Optional.empty();
        while (open.isPresent()) {
            Grant grant = open.get();
            Optional<String> current = call.definition().map(ToolDefinition::digest);
            if (current.equals(grant.definition())) {
                draft.book.grants = draft.book.grants.with(grant.number(), Grant::usedOnce);
                return Optional.of(call.granted(grant.number()));
            }
            if (current.equals(Optional.of(ToolDefinition.UNKNOWN))) {
                return Optional.empty();
            }
            end(draft, grant.number(), Grant.Reason.TOOL_CHANGED, Optional.empty());
            open = draft.book.grants.openFor(call, draft.at);
        }
        return Optional.empty();
    }

    /**
     * Requests approval again for a call that did not run, because its tool's definition is not the approved one. Ends
     * grants for other definitions of the tool.
     */
    static void askAgain(Draft draft, Call call, String definition) {
        draft.book.put(call.redefined(definition));
        draft.book.grants.list().stream()
                .filter(grant -> grant.tool().equals(call.tool())
                        && grant.ended().isEmpty()
                        && !grant.definition().equals(Optional.of(definition)))
                .forEach(grant -> end(draft, grant.number(), Grant.Reason.TOOL_CHANGED, Optional.empty()));
        askFor(draft, draft.book.call(call.id()));
    }

    /** Ends a grant. Its calls that have not started need approval again. */
    static void grantRevoked(Draft draft, PersonFact.GrantRevoked fact) {
        end(draft, fact.grant(), Grant.Reason.REVOKED, fact.by());
    }

    private static void end(Draft draft, int number, Grant.Reason reason, Optional<String> by) {
        draft.book.grants = draft.book.grants.with(number, grant -> grant.ending(reason, draft.at, by));
        draft.book.openCalls().stream()
                .filter(call -> call.grant().equals(Optional.of(number)) && hasNotStarted(draft, call))
                .forEach(call -> askFor(draft, call));
    }

    private static boolean hasNotStarted(Draft draft, Call call) {
        return call.status() == Call.Status.ISSUED
                || (call.status() == Call.Status.DISPATCHED
                        && draft.policyOf(call).effect());
    }

    static void askFor(Draft draft, Call call) {
        Optional<AgentPolicy.Approvals> approvals =
                draft.binding.policy.orElseThrow().approvals();
        if (approvals.filter(AgentPolicy.Approvals::nobody).isPresent()) {
            String text = ToolTexts.deniedByNobody(call) + Draft.claimNote(call);
            draft.book.put(call.ended(Call.Status.DENIED, text, draft.at));
        } else if (lacksDefinition(draft, call)) {
            draft.book.put(call.withoutGrant().issued(Optional.empty(), draft.at)); // To determine the definition.
        } else {
            draft.book.put(call.awaiting(approvals.flatMap(by -> by.expiry(draft.at)), draft.at));
        }
    }

    static void deny(Draft draft, Call call, CallApproval denial, String text) {
        Call decided = call.decided(denial, call.args(), draft.at);
        draft.end(decided, Call.Status.DENIED, text + Draft.claimNote(call));
    }

    static void denyByTimeout(Draft draft, Call call) {
        CallApproval denial = new CallApproval(false, false, Optional.empty(), Optional.of("timeout"), draft.at);
        deny(draft, call, denial, ToolTexts.deniedByTime(call));
    }
}
