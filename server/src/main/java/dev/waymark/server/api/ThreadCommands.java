package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import java.util.List;

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
                message(SignalNames.SAY, "say", CallerRole.TALK),
                message(SignalNames.ANSWER, "answer", CallerRole.TALK),
                message(SignalNames.APPROVE, "approve", CallerRole.DECIDE),
                message(SignalNames.DENY, "deny", CallerRole.DECIDE),
                message(SignalNames.REVOKE, "revokeGrant", CallerRole.DECIDE),
                message(SignalNames.SETTLE, "settle", CallerRole.DECIDE),
                message(SignalNames.BUDGET, "raiseBudget", CallerRole.OPERATE),
                message(SignalNames.STOP, "stop", CallerRole.TALK),
                message(SignalNames.CLOSE, "close", CallerRole.TALK),
                Route.post("cancel", "/v1/threads/{thread}/cancel", CallerRole.TALK, this::cancel));
    }

    /** The operation whose body is the payload of this signal, with the fields of {@link MessageBody}. */
    private Route message(String signal, String operation, CallerRole role) {
        return Route.post(
                operation,
                "/v1/threads/{thread}/" + signal,
                role,
                request -> post(request, OutboundMessage.of(MessageBody.read(signal, request))));
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

    private HttpAnswer cancel(ApiRequest request) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        String runId = client.cancel(thread).runId();
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.put("runId", runId);
        return HttpReply.json(202, document);
    }
}
