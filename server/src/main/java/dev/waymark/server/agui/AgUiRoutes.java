package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.front.FrontEndContent;
import dev.waymark.server.front.FrontEndRun;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.front.FrontEndThreads.FrontEndMessage;
import dev.waymark.server.front.MessageIds;
import dev.waymark.server.front.PendingAnswers;
import dev.waymark.server.front.PendingId;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.timeline.Timeline;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The operation that runs a thread for an AG-UI front end. */
public final class AgUiRoutes {
    private static final int BODY_BYTES = 8 * 1024 * 1024;
    private static final String OPERATION = "agui";
    private static final List<String> DECISION_FIELDS = List.of("approved", "args", "reason");

    private final FrontEndThreads threads;
    private final AgentCatalog agents;

    private AgUiRoutes(FrontEndThreads threads, AgentCatalog agents) {
        this.threads = threads;
        this.agents = agents;
    }

    public static List<Route> of(AgentClient client, AgentCatalog agents, Executor readers) {
        AgUiRoutes routes = new AgUiRoutes(new FrontEndThreads(client, agents, readers, OPERATION), agents);
        return List.of(Route.post("runAgUi", "/v1/agui/{agent}", CallerRole.LOOK, routes::run)
                .taking(BODY_BYTES));
    }

    private HttpAnswer run(ApiRequest request) {
        AgUiView.RequestedRun requested = new AgUiView.RequestedRun(
                threadId(request),
                request.text("runId").orElseThrow(),
                request.text("protocolVersion").isPresent());
        if (isOfNewChat(request)) {
            agents.check(request.pathParameter("agent"));
            String events = AgUiView.emptyRun(requested, threads.derived(request.caller(), threadId(request)));
            return new HttpReply(200, "text/event-stream", events.getBytes(StandardCharsets.UTF_8), Map.of());
        }
        FrontEndRun run = begin(request);
        return threads.stream(
                run,
                Map.of(),
                sent -> new AgUiView(
                        requested, run, () -> threads.timeline(run.thread()).agent(), sent));
    }

    /** Whether a page that has not sent a message yet asks for the messages of its chat. */
    private boolean isOfNewChat(ApiRequest request) {
        JsonNode body = request.json();
        return body.path("resume").isEmpty()
                && newMessage(body).isEmpty()
                && threads.find(request.caller(), threadId(request)).isEmpty();
    }

    private static String threadId(ApiRequest request) {
        return request.text("threadId").orElseThrow();
    }

    private FrontEndRun begin(ApiRequest request) {
        JsonNode body = request.json();
        Optional<String> thread = threads.find(request.caller(), threadId(request));
        Optional<JsonNode> message = newMessage(body);
        boolean resumes = body.path("resume").size() > 0;
        if (thread.isEmpty() && resumes) {
            throw HttpProblem.notFound("no such thread, so nothing waits for these answers");
        }
        if (thread.isPresent() && resumes) {
            return threads.send(thread.get(), answers(request, threads.timeline(thread.get())));
        }
        return message.map(said -> threads.say(
                        request.caller(),
                        thread,
                        request.pathParameter("agent"),
                        new FrontEndMessage(
                                threadId(request), said.path("id").asText(), content(said, body.path("context")))))
                .orElseGet(() -> FrontEndThreads.everything(threads.timeline(thread.orElseThrow())));
    }

    /** The last message, if it is from the user and no server assigned its id. */
    private static Optional<JsonNode> newMessage(JsonNode body) {
        JsonNode messages = body.path("messages");
        return Optional.of(messages.path(messages.size() - 1))
                .filter(last -> last.path("role").asText().equals("user"))
                .filter(last -> !MessageIds.isOwn(last.path("id").asText()));
    }

    private static Message content(JsonNode message, JsonNode context) {
        return FrontEndContent.withContext(AgUiContent.message(message.path("content")), context);
    }

    /**
     * The answers in {@code resume}. Their message ids are derived from the run and the interrupt, so that each answer
     * takes effect once even if the request is repeated.
     */
    private List<OutboundMessage> answers(ApiRequest request, Timeline timeline) {
        String runId = request.text("runId").orElseThrow();
        List<JsonNode> entries = new ArrayList<>();
        request.json().path("resume").forEach(entries::add);
        FrontEndThreads.requireOneAnswerEach(
                entries.stream().map(AgUiRoutes::interrupt).map(PendingId::callId));
        List<OutboundMessage> answers = new ArrayList<>();
        entries.forEach(entry -> {
            PendingId id = interrupt(entry);
            answers.add(threads.identified(
                    request.caller(), timeline.thread(), runId, id, answer(request.caller(), timeline, id, entry)));
        });
        return answers;
    }

    private static PendingId interrupt(JsonNode entry) {
        return PendingId.parse(entry.path("interruptId").asText());
    }

    private static OutboundMessage answer(Caller caller, Timeline timeline, PendingId id, JsonNode entry) {
        PendingAnswers.requireNoGrant(entry);
        PendingItem item = FrontEndThreads.lastWaiting(timeline, id);
        boolean cancelled = entry.path("status").asText().equals("cancelled");
        JsonNode payload = cancelled ? MissingNode.getInstance() : entry.path("payload");
        PendingAnswers answers = new PendingAnswers(caller);
        return switch (item.kind()) {
            case APPROVAL ->
                answers.decision(
                        id,
                        !cancelled && approves(payload),
                        payload.path("args"),
                        Optional.ofNullable(payload.path("reason").textValue()));
            case UNKNOWN -> cancelled ? answers.givingUp(id.callId()) : answers.settlement(id.callId(), payload);
            case QUESTION -> {
                boolean isOfFrontEnd = FrontEndThreads.isOfFrontEnd(timeline, item);
                yield cancelled
                        ? answers.cancelled(id.callId(), isOfFrontEnd)
                        : isOfFrontEnd
                                ? answers.output(id.callId(), payload.path("output"), payload.path("error"))
                                : answers.answer(id.callId(), payload);
            }
        };
    }

    /** Rejects unknown fields and types, because an edit that is not recognized would approve the unedited call. */
    private static boolean approves(JsonNode payload) {
        if (!payload.isBoolean() && !payload.path("approved").isBoolean()) {
            throw HttpProblem.badInput("answer an approval with {\"approved\": true} or {\"approved\": false}");
        }
        payload.fieldNames().forEachRemaining(name -> {
            if (!DECISION_FIELDS.contains(name)) {
                throw HttpProblem.badInput("unknown field \"" + name + "\" in the answer to an approval; it takes "
                        + String.join(", ", DECISION_FIELDS));
            }
        });
        if (payload.hasNonNull("reason") && !payload.path("reason").isTextual()) {
            throw HttpProblem.badInput("the reason of an approval must be a text");
        }
        return payload.path("approved").booleanValue() || payload.asBoolean(false);
    }
}
