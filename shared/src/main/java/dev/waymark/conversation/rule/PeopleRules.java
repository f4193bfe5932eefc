package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.ReplySchema;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.WordSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rules for what people send: messages, answers, approvals and settled outcomes, for this thread and its subagents. */
final class PeopleRules {
    private PeopleRules() {}

    static void userSpoke(Draft draft, PersonFact.UserSpoke fact) {
        fact.replacement().ifPresent(replacement -> {
            Workspace workspace = draft.book.workspace;
            TurnRules.forget(draft, "the conversation was replaced");
            draft.book.workspace = workspace; // Todos, plan and files are kept.
            replacement.forEach(message -> {
                draft.say(Optional.empty(), message);
                recordForeignCalls(draft, message);
            });
            draft.beginPrefix();
            if (replacement.isEmpty()) {
                UntrustedRules.forgotten(draft);
            } else {
                UntrustedRules.read(draft, WordSource.CONVERSATION);
            }
        });
        if (fact.content().isPresent() && fact.replacement().isEmpty()) {
            ModelRules.withdrawRefusedMessages(draft);
        }
        fact.content()
                .ifPresent(content ->
                        enqueue(draft, new Queued(fact.id(), content, draft.at, fact.schema(), fact.untrusted())));
        Optional<Json> schema = fact.schema().or(() -> fact.retry() ? draft.dialogue.turn.schema() : Optional.empty());
        if (!draft.dialogue.turn.isRunning() && !draft.dialogue.isBlank()) {
            String said = fact.retry() ? ModelRules.answerLastReply(draft) : "";
            TurnRules.open(draft);
            draft.dialogue.turn = draft.dialogue.turn.after(said);
        }
        if (fact.content().isEmpty() && draft.dialogue.turn.isRunning()) {
            fact.schema()
                    .ifPresent(wanted -> enqueue(
                            draft, new Queued(Optional.empty(), Message.user(ReplySchema.request(wanted)), draft.at)));
            schema.ifPresent(wanted -> draft.dialogue.turn = draft.dialogue.turn.withSchema(wanted));
        }
    }

    private static void enqueue(Draft draft, Queued message) {
        List<Queued> longer = new ArrayList<>(draft.dialogue.queue);
        longer.add(message);
        draft.dialogue.queue = longer;
    }

    /** Records the call ids of an imported conversation. Records of the thread's own calls are kept. */
    private static void recordForeignCalls(Draft draft, Message message) {
        for (Part.ToolUse use : message.toolUses()) {
            if (!draft.book.calls.contains(use.id())) {
                draft.book.putForeign(Call.issued(use, draft.dialogue.turn.number(), draft.at)
                        .ended(Call.Status.COMPLETED, "", draft.at)
                        .committed());
            }
        }
    }

    static void humanAnswered(Draft draft, PersonFact.HumanAnswered fact) {
        PendingItem ask = asked(draft, PendingItem.Kind.QUESTION, fact.callId());
        if (!SubagentRules.passOn(draft, ask, fact)) {
            Call call = draft.book.call(ask.callId());
            if (call.suspension().isPresent()) {
                RemoteCallRules.answered(draft, call, fact);
            } else {
                draft.end(call, Call.Status.COMPLETED, fact.answer());
            }
        }
    }

    static void approvalDecided(Draft draft, PersonFact.ApprovalDecided fact) {
        PendingItem ask = asked(draft, PendingItem.Kind.APPROVAL, fact.callId());
        // Binds the decision to the arguments shown here, in case the request changes before the decision arrives.
        if (!SubagentRules.passOn(draft, ask, fact.withDigest(ask.argsDigest().orElseThrow()))) {
            decide(draft, draft.book.call(ask.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    private static void decide(
            Draft draft, Call call, PersonFact.ApprovalDecided fact, Optional<DecisionSignature> signed) {
        Json args = fact.args().orElse(call.args());
        boolean edited = !args.equals(call.args());
        CallApproval decision = new CallApproval(fact.approved(), edited, fact.by(), fact.reason(), draft.at, signed)
                .verifiedAs(fact.verified())
                .granting(fact.grant());
        if (!fact.approved()) {
            ApprovalRules.deny(draft, call, decision, ToolTexts.denied(call, fact.reason()));
            return;
        }
        Call decided = call.decided(decision, args, draft.at);
        decided.approval().flatMap(CallApproval::grant).ifPresent(terms -> grant(draft, decided, terms));
        CallRules.continueApproved(draft, decided);
        draft.reachVersionWhenBatchIsDone();
    }

    private static void grant(Draft draft, Call call, GrantTerms terms) {
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

    static void outcomeSettled(Draft draft, PersonFact.OutcomeSettled fact) {
        PendingItem ask = asked(draft, PendingItem.Kind.UNKNOWN, Optional.of(fact.callId()));
        if (!SubagentRules.passOn(draft, ask, fact)) {
            LostCallRules.settle(draft, draft.book.call(fact.callId()), fact, SignatureRules.signature(ask, fact));
        }
    }

    /** The request that an answer or a decision refers to, which must exist. */
    private static PendingItem asked(Draft draft, PendingItem.Kind kind, Optional<String> callId) {
        return Admission.meant(draft.state(), kind, callId).orElseThrow();
    }
}
