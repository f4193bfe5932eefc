package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.DecisionSignature;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.ReplySchema;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rules for what people send: messages, answers, approvals and settled outcomes, for this thread and its subagents. */
final class PeopleRules {
    private final Draft draft;
    private final TurnRules turns;
    private final ModelRules model;
    private final CallRules calls;
    private final ApprovalRules approvals;
    private final LostCallRules lost;
    private final RemoteCallRules remote;
    private final SubagentRules subagents;

    PeopleRules(
            Draft draft,
            TurnRules turns,
            ModelRules model,
            CallRules calls,
            ApprovalRules approvals,
            LostCallRules lost,
            RemoteCallRules remote,
            SubagentRules subagents) {
        this.draft = draft;
        this.turns = turns;
        this.model = model;
        this.calls = calls;
        this.approvals = approvals;
        this.lost = lost;
        this.remote = remote;
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
            draft.beginPrefix();
        });
        if (fact.content().isPresent() && fact.replacement().isEmpty()) {
            model.takeBackWhatWasRefused();
        }
        fact.content().ifPresent(content -> enqueue(new Queued(fact.id(), content, draft.at, fact.schema())));
        Optional<Json> schema = fact.schema().or(() -> fact.retry() ? draft.dialogue.turn.schema() : Optional.empty());
        if (!draft.dialogue.turn.isRunning() && !draft.dialogue.isBlank()) {
            String said = fact.retry() ? model.answerLastReply() : "";
            turns.open();
            draft.dialogue.turn = draft.dialogue.turn.after(said);
        }
        if (fact.content().isEmpty() && draft.dialogue.turn.isRunning()) {
            fact.schema()
                    .ifPresent(wanted ->
                            enqueue(new Queued(Optional.empty(), Message.user(ReplySchema.request(wanted)), draft.at)));
            schema.ifPresent(wanted -> draft.dialogue.turn = draft.dialogue.turn.wanting(wanted));
        }
    }

    private void enqueue(Queued message) {
        List<Queued> longer = new ArrayList<>(draft.dialogue.queue);
        longer.add(message);
        draft.dialogue.queue = longer;
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
        if (!subagents.passOn(ask, fact)) {
            Call call = draft.book.call(ask.callId());
            if (call.suspension().isPresent()) {
                remote.answered(call, fact);
            } else {
                draft.end(call, Call.Status.COMPLETED, fact.answer());
            }
        }
    }

    void approvalDecided(PersonFact.ApprovalDecided fact) {
        PendingItem ask = asked(PendingItem.Kind.APPROVAL, fact.callId());
        // Binds the decision to the arguments shown here, in case the request changes before the decision arrives.
        if (!subagents.passOn(ask, fact.withDigest(ask.argsDigest().orElseThrow()))) {
            decide(draft.book.call(ask.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    private void decide(Call call, PersonFact.ApprovalDecided fact, Optional<DecisionSignature> signed) {
        if (!fact.approved()) {
            String text = ToolTexts.denied(call, fact.reason());
            CallApproval denial = new CallApproval(false, false, fact.by(), fact.reason(), draft.at, signed);
            approvals.deny(call, denial.verifiedAs(fact.verified()), text);
            return;
        }
        Json args = fact.args().orElse(call.args());
        boolean edited = !args.equals(call.args());
        CallApproval approval =
                new CallApproval(true, edited, fact.by(), fact.reason(), draft.at, signed).verifiedAs(fact.verified());
        Call decided = call.decided(approval.granting(fact.grant()), args, draft.at);
        decided.approval().flatMap(CallApproval::grant).ifPresent(terms -> grant(decided, terms));
        calls.goOnApproved(decided);
        draft.reachVersionWhenBatchIsDone();
    }

    private void grant(Call call, GrantTerms terms) {
        CallApproval approval = call.approval().orElseThrow();
        Grant grant = new Grant(
                draft.book.grants.last() + 1,
                call.tool(),
                call.id(),
                call.argsDigest(),
                terms,
                draft.at,
                0,
                approval.by(),
                approval.verified(),
                call.definition().map(ToolDefinition::digest),
                Optional.empty());
        draft.book.grants = draft.book.grants.plus(grant, draft.at);
    }

    void grantRevoked(PersonFact.GrantRevoked fact) {
        approvals.revoke(fact.grant(), fact.by());
    }

    void outcomeSettled(PersonFact.OutcomeSettled fact) {
        PendingItem ask = asked(PendingItem.Kind.UNKNOWN, Optional.of(fact.callId()));
        if (!subagents.passOn(ask, fact)) {
            lost.settle(draft.book.call(fact.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    /** The request that an answer or a decision refers to. The request exists, since the fact was admitted. */
    private PendingItem asked(PendingItem.Kind kind, Optional<String> callId) {
        return Admission.meant(draft.state(), kind, callId).orElseThrow();
    }
}
