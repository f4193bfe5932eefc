package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.VerifiedSubject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rules for what people send: messages, answers, approvals and settled outcomes, for this thread and its subagents. */
final class PeopleRules {
    private final Draft draft;
    private final TurnRules turns;
    private final ModelRules model;
    private final CallRules calls;
    private final ApprovalRules approvals;
    private final LostCallRules lost;
    private final SubagentRules subagents;

    PeopleRules(
            Draft draft,
            TurnRules turns,
            ModelRules model,
            CallRules calls,
            ApprovalRules approvals,
            LostCallRules lost,
            SubagentRules subagents) {
        this.draft = draft;
        this.turns = turns;
        this.model = model;
        this.calls = calls;
        this.approvals = approvals;
        this.lost = lost;
        this.subagents = subagents;
    }

    void userSpoke(PersonFact.UserSpoke fact) {
        fact.replacement().ifPresent(replacement -> {
            Workspace workspace = draft.book.workspace;
            turns.forget("the conversation was replaced");
            draft.book.workspace = workspace; // Todos, plan and files are not messages.
            replacement.forEach(message -> {
                draft.say(Optional.empty(), message);
                recordForeignCalls(message);
            });
        });
        fact.content().ifPresent(content -> {
            List<Queued> longer = new ArrayList<>(draft.dialogue.queue);
            longer.add(new Queued(fact.id(), content, draft.at, fact.schema()));
            draft.dialogue.queue = longer;
        });
        Optional<Json> schema = fact.schema().or(() -> fact.retry() ? draft.dialogue.turn.schema() : Optional.empty());
        if (!draft.dialogue.turn.isRunning() && !draft.dialogue.isBlank()) {
            if (fact.retry()) {
                model.answerMisfit();
            }
            turns.open();
        }
        if (fact.content().isEmpty() && draft.dialogue.turn.isRunning()) {
            schema.ifPresent(wanted -> draft.dialogue.turn = draft.dialogue.turn.wanting(wanted));
        }
    }

    /** Records the call ids of an imported conversation. Records of the thread's own calls are kept. */
    private void recordForeignCalls(Message message) {
        for (Part.ToolUse use : message.toolUses()) {
            if (!draft.book.calls.contains(use.id())) {
                draft.book.putForeign(Call.issued(use, draft.dialogue.turn.number(), draft.at)
                        .ended(Call.Status.COMPLETED, "", draft.at)
                        .committed());
            }
        }
    }

    void humanAnswered(PersonFact.HumanAnswered fact) {
        PendingItem ask = asked(PendingItem.Kind.QUESTION, fact.callId());
        boolean passedOn = subagents.passOn(ask, fact.signal(), body -> {
            body.put("answer", fact.answer());
            fact.by().ifPresent(by -> body.put("by", by));
        });
        if (!passedOn) {
            draft.end(draft.book.call(ask.callId()), Call.Status.COMPLETED, fact.answer());
        }
    }

    void approvalDecided(PersonFact.ApprovalDecided fact) {
        PendingItem ask = asked(PendingItem.Kind.APPROVAL, fact.callId());
        boolean passedOn = subagents.passOn(ask, fact.signal(), body -> {
            fact.args().ifPresent(args -> body.put("args", args.value()));
            // Binds the decision to the arguments shown here, in case the request changes before the decision arrives.
            body.put("argsDigest", ask.argsDigest().orElseThrow());
            fact.by().ifPresent(by -> body.put("by", by));
            fact.reason().ifPresent(reason -> body.put("reason", reason));
            fact.signature().ifPresent(signature -> body.put("signature", signature));
            passOn(fact.verified(), body);
        });
        if (!passedOn) {
            decide(draft.book.call(ask.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    private static void passOn(Optional<VerifiedSubject> verified, Map<String, Object> body) {
        verified.ifPresent(who -> {
            Map<String, Object> known = new LinkedHashMap<>();
            known.put("subject", who.subject());
            who.issuer().ifPresent(issuer -> known.put("issuer", issuer));
            body.put("verified", known);
        });
    }

    private void decide(Call call, PersonFact.ApprovalDecided fact, Optional<CallApproval.Signature> signed) {
        if (!fact.approved()) {
            String text = ToolTexts.denied(call, fact.reason());
            CallApproval denial = new CallApproval(false, false, fact.by(), fact.reason(), draft.at, signed);
            approvals.deny(call, denial.verifiedAs(fact.verified()), text);
            return;
        }
        Json args = fact.args().orElse(call.args());
        boolean edited = !args.equals(call.args());
        CallApproval approval = new CallApproval(true, edited, fact.by(), fact.reason(), draft.at, signed);
        calls.goOnApproved(call.decided(approval.verifiedAs(fact.verified()), args, draft.at));
        draft.reachVersionWhenBatchIsDone();
    }

    void outcomeSettled(PersonFact.OutcomeSettled fact) {
        PendingItem ask = asked(PendingItem.Kind.UNKNOWN, Optional.of(fact.callId()));
        boolean passedOn = subagents.passOn(ask, fact.signal(), body -> {
            body.put("outcome", fact.settlement().wireName());
            fact.result().ifPresent(result -> body.put("result", result));
            fact.by().ifPresent(by -> body.put("by", by));
            fact.note().ifPresent(note -> body.put("note", note));
            fact.signature().ifPresent(signature -> body.put("signature", signature));
            passOn(fact.verified(), body);
        });
        if (!passedOn) {
            lost.settle(draft.book.call(fact.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    /** The request that an answer or a decision refers to. The request exists, since the fact was admitted. */
    private PendingItem asked(PendingItem.Kind kind, Optional<String> callId) {
        return Admission.meant(draft.state(), kind, callId).orElseThrow();
    }
}
