package dev.waymark.server.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.LimitRaise;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Settlement;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import java.util.List;
import java.util.Optional;

/**
 * The operations that send a command to an open thread. Status 202 means that the thread has accepted the command or,
 * for {@code cancel}, that the server has. The effects of the command appear in the event stream.
 */
final class ThreadCommands {
    private final AgentClient client;
    private final ThreadAccess access;

    ThreadCommands(AgentClient client, ThreadAccess access) {
        this.client = client;
        this.access = access;
    }

    List<Route> routes() {
        return List.of(
                Route.post(
                        "say", "/v1/threads/{thread}/say", CallerRole.TALK, request -> post(request, message(request))),
                Route.post(
                        "answer",
                        "/v1/threads/{thread}/answer",
                        CallerRole.TALK,
                        request -> post(request, answer(request))),
                Route.post(
                        "approve",
                        "/v1/threads/{thread}/approve",
                        CallerRole.DECIDE,
                        request -> post(request, decision(request, approval(request)))),
                Route.post(
                        "deny",
                        "/v1/threads/{thread}/deny",
                        CallerRole.DECIDE,
                        request -> post(request, decision(request, Approval.deny()))),
                Route.post(
                        "settle",
                        "/v1/threads/{thread}/settle",
                        CallerRole.DECIDE,
                        request -> post(request, settlement(request))),
                Route.post(
                        "raiseBudget",
                        "/v1/threads/{thread}/budget",
                        CallerRole.OPERATE,
                        request -> post(request, raise(request))),
                Route.post(
                        "stop",
                        "/v1/threads/{thread}/stop",
                        CallerRole.TALK,
                        request -> post(request, by(request, OutboundMessage.stop()))),
                Route.post(
                        "close",
                        "/v1/threads/{thread}/close",
                        CallerRole.TALK,
                        request -> post(request, by(request, OutboundMessage.close()))),
                Route.post("cancel", "/v1/threads/{thread}/cancel", CallerRole.TALK, this::cancel));
    }

    private HttpAnswer post(ApiRequest request, OutboundMessage message) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        String id = RequestIds.message(request, message.name());
        TurnHandle sent;
        try {
            sent = client.send(thread, message.withId(id));
        } catch (WaymarkException.NoWorker absent) {
            // The message is with the server: a worker that starts later takes it.
            throw Failures.of(absent).withMessageId(id);
        }
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.put("runId", sent.runId());
        document.put("fact", sent.fact().orElseThrow());
        document.put("messageId", id);
        return HttpReply.json(202, document);
    }

    private static OutboundMessage message(ApiRequest request) {
        return request.text("message").map(OutboundMessage::message).orElseGet(OutboundMessage::retry);
    }

    private static OutboundMessage answer(ApiRequest request) {
        return by(
                request,
                OutboundMessage.answer(
                        request.text("callId").orElseThrow(),
                        request.text("answer").orElseThrow()));
    }

    private static Approval approval(ApiRequest request) {
        JsonNode args = request.json().path("args");
        return args.isMissingNode()
                ? Approval.approve()
                : Approval.edit(Json.of(PayloadJson.MAPPER.convertValue(args, Object.class)));
    }

    /** Creates a decision. The request must contain the digest of the arguments that the caller saw. */
    private static OutboundMessage decision(ApiRequest request, Approval approval) {
        Approval about = approval.withCall(request.text("callId").orElseThrow())
                .withDigest(request.text("argsDigest").orElseThrow());
        return decided(
                request,
                OutboundMessage.decision(
                        request.text("reason").map(about::withReason).orElse(about)));
    }

    private static OutboundMessage settlement(ApiRequest request) {
        Settlement.Outcome how =
                request.text("outcome").flatMap(Settlement.Outcome::named).orElseThrow();
        Settlement plain = Settlement.of(request.text("callId").orElseThrow(), how);
        Settlement settlement = request.text("note").map(plain::withNote).orElse(plain);
        Optional<String> result = request.text("result");
        if (result.isPresent() && how != Settlement.Outcome.DONE) {
            throw HttpProblem.badInput("result is allowed only with outcome done");
        }
        return decided(
                request,
                OutboundMessage.settlement(result.map(settlement::withResult).orElse(settlement)));
    }

    /**
     * Attributes a decision to the signer that the request names, or else to the caller. Records the caller's verified
     * subject in both cases.
     */
    private static OutboundMessage decided(ApiRequest request, OutboundMessage decision) {
        OutboundMessage signed = request.text("signature").map(decision::signed).orElse(decision);
        OutboundMessage named = request.text("signer").map(signed::by).orElseGet(() -> by(request, signed));
        return Attribution.verified(request.caller(), named);
    }

    private static OutboundMessage by(ApiRequest request, OutboundMessage message) {
        return Attribution.by(request.caller(), message);
    }

    private static OutboundMessage raise(ApiRequest request) {
        JsonNode body = request.json();
        LimitRaise raise = new LimitRaise(
                Optional.of(body.path("usd")).filter(JsonNode::isNumber).map(JsonNode::decimalValue),
                Optional.of(body.path("tokens")).filter(JsonNode::isNumber).map(JsonNode::longValue),
                Optional.of(body.path("iterations")).filter(JsonNode::isNumber).map(JsonNode::intValue));
        return by(request, OutboundMessage.raise(raise));
    }

    private HttpAnswer cancel(ApiRequest request) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        String runId = client.cancel(thread).runId();
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.put("runId", runId);
        return HttpReply.json(202, document);
    }
}
