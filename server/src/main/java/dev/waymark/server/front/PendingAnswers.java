package dev.waymark.server.front;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Settlement;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.CallSettlement.Outcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.api.Attribution;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import java.util.Optional;

/** Creates the messages with which a caller answers pending items. Checks that the caller has the required role. */
public final class PendingAnswers {
    private final Caller caller;

    public PendingAnswers(Caller caller) {
        this.caller = caller;
    }

    /**
     * Answers a question with the payload's {@code answer} or, if the payload is not an object, with the payload.
     * Numbers and booleans become text.
     */
    public OutboundMessage answer(String callId, JsonNode payload) {
        FrontEndThreads.require(caller, CallerRole.TALK);
        JsonNode answer = payload.isObject() ? payload.path("answer") : payload;
        if (!answer.isValueNode() || answer.isNull()) {
            throw HttpProblem.badInput("answer a question with a text or with {\"answer\": \"…\"}");
        }
        return answered(callId, answer.asText());
    }

    /**
     * Answers a call that the front end has run. A result that is not a text is sent as JSON. The model reads it like
     * the result of any tool.
     *
     * @param output the result; a missing node if the front end could not run the call
     * @param error why it could not
     */
    public OutboundMessage output(String callId, JsonNode output, JsonNode error) {
        FrontEndThreads.require(caller, CallerRole.TALK);
        if (output.isMissingNode() == error.isMissingNode() || !(error.isMissingNode() || error.isTextual())) {
            throw HttpProblem.badInput("answer the call " + callId
                    + " of a front end's tool with its output, or with the text of an error");
        }
        String text = error.isTextual()
                ? "The front end could not run it: " + error.textValue()
                : output.isTextual() ? output.textValue() : output.toString();
        return answered(callId, text);
    }

    /** Answers a question, or a call that the front end was to run, by saying that this was cancelled. */
    public OutboundMessage cancelled(String callId, boolean isOfFrontEnd) {
        FrontEndThreads.require(caller, CallerRole.TALK);
        return answered(callId, isOfFrontEnd ? "The front end did not run it." : "The question was cancelled.");
    }

    private OutboundMessage answered(String callId, String text) {
        return OutboundMessage.of(Attribution.of(caller, PersonFact.HumanAnswered.to(Optional.of(callId), text)));
    }

    /** Declines the form of a tool's server. */
    public OutboundMessage refusal(String callId) {
        FrontEndThreads.require(caller, CallerRole.TALK);
        return OutboundMessage.of(
                Attribution.of(caller, PersonFact.HumanAnswered.refusing(Optional.of(callId), FormAction.DECLINE)));
    }

    /**
     * Approves or denies a call.
     *
     * @param args the arguments to run with; a missing node to run with those that were shown
     */
    public OutboundMessage decision(PendingId about, boolean approved, JsonNode args, Optional<String> reason) {
        if (!args.isMissingNode() && !args.isObject()) {
            throw HttpProblem.badInput("the args of the approval of " + about.callId()
                    + " must be an object; leave them out to run the call as it was shown");
        }
        if (approved && about.argsDigest().isEmpty()) {
            throw HttpProblem.badInput(
                    "the arguments were not shown in full; approve the call in the subagent's thread: "
                            + about.callId());
        }
        ApprovalDecided decision = approved && args.isObject()
                ? Approval.edit(json(args))
                : approved ? Approval.approve() : Approval.deny();
        ApprovalDecided called = decision.withCall(about.callId());
        ApprovalDecided bound = about.argsDigest().map(called::withDigest).orElse(called);
        return decided(reason.map(bound::withReason).orElse(bound));
    }

    /** Rejects a grant. If it were ignored, the caller would believe that later calls may run, too. */
    public static void requireNoGrant(JsonNode given) {
        if (given.has("grant")) {
            throw HttpProblem.badInput("a grant cannot be given here, and nothing was decided."
                    + " Give it with POST /v1/threads/{thread}/approve, or in the console");
        }
    }

    private static Json json(JsonNode args) {
        try {
            return Json.of(PayloadJson.MAPPER.convertValue(args, Object.class));
        } catch (IllegalArgumentException e) {
            // The arguments are nested too deeply, or have a number that is too large.
            throw HttpProblem.badInput("args: " + e.getMessage());
        }
    }

    /**
     * Settles an unknown outcome with the payload's {@code outcome} and {@code note}. Its {@code result} is used for
     * the outcome {@code done} only.
     */
    public OutboundMessage settlement(String callId, JsonNode payload) {
        String outcome = payload.path("outcome").asText();
        Outcome settled = Outcome.named(outcome)
                .orElseThrow(
                        () -> HttpProblem.badInput("outcome must be one of " + Outcome.names() + ", not " + outcome));
        OutcomeSettled plain = Settlement.of(callId, settled);
        OutcomeSettled settlement = text(payload, "note").map(plain::withNote).orElse(plain);
        Optional<String> told = text(payload, "result").filter(text -> settled == Outcome.DONE);
        return decided(told.map(settlement::withResult).orElse(settlement));
    }

    /** Settles an unknown outcome by giving up. */
    public OutboundMessage givingUp(String callId) {
        return decided(Settlement.giveUp(callId));
    }

    private static Optional<String> text(JsonNode payload, String field) {
        return Optional.ofNullable(payload.path(field).textValue());
    }

    private OutboundMessage decided(PersonFact.Decision decision) {
        FrontEndThreads.require(caller, CallerRole.DECIDE);
        return OutboundMessage.of(Attribution.of(caller, decision));
    }
}
