package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.Approval;
import dev.waymark.client.NewThreadOptions;
import dev.waymark.client.OutboundMessage;
import dev.waymark.client.Prompt;
import dev.waymark.client.Settlement;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.PendingItem;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import dev.waymark.server.api.AgentCatalogue;
import dev.waymark.server.api.RequestIds;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.stream.WatchStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The operation that runs a thread for an AG-UI front end. */
public final class AgUiRoutes {
    private static final int BODY_BYTES = 8 * 1024 * 1024;
    private static final String OPERATION = "agui";
    private static final String CANCELLED_ANSWER = "The question was cancelled.";

    private final AgentClient client;
    private final ThreadAccess access;
    private final AgentCatalogue agents;
    private final Executor readers;

    private AgUiRoutes(AgentClient client, AgentCatalogue agents, Executor readers) {
        this.client = client;
        this.access = new ThreadAccess(client);
        this.agents = agents;
        this.readers = readers;
    }

    public static List<Route> of(AgentClient client, AgentCatalogue agents, Executor readers) {
        AgUiRoutes routes = new AgUiRoutes(client, agents, readers);
        return List.of(Route.post("runAgUi", "/v1/agui/{agent}", CallerRole.LOOK, routes::run)
                .taking(BODY_BYTES));
    }

    private HttpAnswer run(ApiRequest request) {
        AgUiRun run = begin(request);
        return new HttpStream(
                Map.of(),
                new WatchStream(client.openWatch(run.thread(), Optional.empty(), readers), new AgUiMapping(run)));
    }

    private AgUiRun begin(ApiRequest request) {
        JsonNode body = request.json();
        Optional<String> thread = thread(request);
        Optional<JsonNode> message = newMessage(body);
        boolean resumes = body.path("resume").size() > 0;
        if (thread.isEmpty() && (resumes || message.isEmpty())) {
            throw HttpProblem.notFound("no such thread, and no message to start one with");
        }
        if (thread.isPresent() && resumes) {
            List<Integer> facts = resume(request, thread.get());
            return run(request, thread.get(), min(facts), max(facts), false);
        }
        if (message.isPresent()) {
            require(request.caller(), CallerRole.TALK);
            return thread.isPresent() ? say(request, thread.get(), message.get()) : start(request, message.get());
        }
        int now = client.timeline(thread.orElseThrow()).now().counters().facts();
        return run(request, thread.orElseThrow(), now, now, true);
    }

    private static int min(List<Integer> facts) {
        return facts.stream().mapToInt(Integer::intValue).min().orElseThrow();
    }

    private static int max(List<Integer> facts) {
        return facts.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    private static AgUiRun run(ApiRequest request, String thread, int from, int until, boolean showsAll) {
        return new AgUiRun(
                request.text("threadId").orElseThrow(),
                request.text("runId").orElseThrow(),
                thread,
                from,
                until,
                showsAll);
    }

    /** Accepts a thread id chosen by the front end, which is unique per caller, or the server's id of a thread. */
    private Optional<String> thread(ApiRequest request) {
        String given = request.text("threadId").orElseThrow();
        String derived = RequestIds.thread(request.caller(), OPERATION, given);
        if (access.isVisible(request.caller(), derived)) {
            return Optional.of(derived);
        }
        return Optional.of(given).filter(id -> access.isVisible(request.caller(), id));
    }

    /** The last message, if it is from the user and its id was not assigned by this server. */
    private static Optional<JsonNode> newMessage(JsonNode body) {
        JsonNode messages = body.path("messages");
        return Optional.of(messages.path(messages.size() - 1))
                .filter(last -> last.path("role").asText().equals("user"))
                .filter(last -> !last.path("id").asText().startsWith(AgUiDocuments.OWN));
    }

    private static String text(JsonNode message) {
        JsonNode content = message.path("content");
        if (content.isTextual()) {
            return content.textValue();
        }
        List<String> texts = new ArrayList<>();
        content.forEach(part -> {
            if (!part.path("type").asText().equals("text")) {
                throw HttpProblem.badInput("only text content is supported, not "
                        + part.path("type").asText());
            }
            texts.add(part.path("text").asText());
        });
        return String.join("\n", texts);
    }

    private static String messageId(ApiRequest request, JsonNode message) {
        String key = request.text("threadId").orElseThrow() + "/"
                + message.path("id").asText();
        return RequestIds.message(request.caller(), OPERATION, key);
    }

    private AgUiRun start(ApiRequest request, JsonNode message) {
        String agent = request.pathParameter("agent");
        if (!agents.admits(agent)) {
            throw HttpProblem.notFound("no such agent: " + agent);
        }
        String thread = RequestIds.thread(
                request.caller(), OPERATION, request.text("threadId").orElseThrow());
        Prompt prompt = Prompt.of(agent, text(message))
                .withThread(thread)
                .withId(messageId(request, message))
                .allowingVolatile();
        client.begin(prompt, NewThreadOptions.ownedBy(request.caller().owner()));
        return run(request, thread, 0, 0, false);
    }

    private AgUiRun say(ApiRequest request, String thread, JsonNode message) {
        OutboundMessage said = OutboundMessage.message(text(message)).withId(messageId(request, message));
        int fact = client.post(thread, said).fact();
        return run(request, thread, fact, fact, false);
    }

    private List<Integer> resume(ApiRequest request, String thread) {
        Timeline timeline = client.timeline(thread);
        List<PendingItem> pending = PendingItem.of(thread, timeline.now());
        List<OutboundMessage> answers = new ArrayList<>();
        request.json().path("resume").forEach(entry -> answers.add(answer(request.caller(), pending, entry)));
        List<Integer> facts = new ArrayList<>();
        answers.forEach(answer -> facts.add(client.post(thread, answer).fact()));
        return facts;
    }

    private static OutboundMessage answer(Caller caller, List<PendingItem> pending, JsonNode entry) {
        AgUiDocuments.Interrupted interrupted =
                AgUiDocuments.Interrupted.parse(entry.path("interruptId").asText());
        PendingItem item = pending.stream()
                .filter(known -> known.callId().equals(interrupted.callId()))
                .findFirst()
                .orElseThrow(() ->
                        HttpProblem.of(409, "AlreadyDecided", "this call no longer waits: " + interrupted.callId()));
        boolean cancelled = entry.path("status").asText().equals("cancelled");
        JsonNode payload = entry.path("payload");
        OutboundMessage answer = switch (item.kind()) {
            case PendingItem.APPROVAL -> {
                require(caller, CallerRole.DECIDE);
                yield decision(interrupted, cancelled, payload);
            }
            case PendingItem.UNKNOWN -> {
                require(caller, CallerRole.DECIDE);
                yield settlement(interrupted, cancelled, payload);
            }
            default -> {
                require(caller, CallerRole.TALK);
                yield OutboundMessage.answer(item.callId(), cancelled ? CANCELLED_ANSWER : words(payload));
            }
        };
        return caller.subject()
                .map(who -> item.kind().equals(PendingItem.QUESTION)
                        ? answer.by(who.subject())
                        : answer.by(who.subject()).verifiedAs(who))
                .orElse(answer);
    }

    private static String words(JsonNode payload) {
        JsonNode answer = payload.isObject() ? payload.path("answer") : payload;
        if (!answer.isValueNode() || answer.isNull()) {
            throw HttpProblem.badInput("answer a question with a text or with {\"answer\": \"…\"}");
        }
        return answer.asText();
    }

    private static OutboundMessage decision(
            AgUiDocuments.Interrupted interrupted, boolean cancelled, JsonNode payload) {
        boolean approved = !cancelled && (payload.path("approved").booleanValue() || payload.asBoolean(false));
        if (!cancelled && !payload.isBoolean() && !payload.path("approved").isBoolean()) {
            throw HttpProblem.badInput("answer an approval with {\"approved\": true} or {\"approved\": false}");
        }
        Approval approval = approved && payload.path("args").isObject()
                ? Approval.edit(Json.of(PayloadJson.MAPPER.convertValue(payload.path("args"), Object.class)))
                : approved ? Approval.approve() : Approval.deny();
        approval = approval.withCall(interrupted.callId())
                .withDigest(interrupted
                        .argsDigest()
                        .orElseThrow(
                                () -> HttpProblem.badInput("the interrupt id has no digest: " + interrupted.callId())));
        Optional<String> reason = Optional.ofNullable(payload.path("reason").textValue());
        return OutboundMessage.decision(reason.map(approval::withReason).orElse(approval));
    }

    private static OutboundMessage settlement(
            AgUiDocuments.Interrupted interrupted, boolean cancelled, JsonNode payload) {
        String name = cancelled ? "give-up" : payload.path("outcome").asText();
        Settlement.Outcome outcome = Arrays.stream(Settlement.Outcome.values())
                .filter(known -> known.wireName().equals(name))
                .findFirst()
                .orElseThrow(() -> HttpProblem.badInput("outcome must be done, rerun or give-up, not " + name));
        Settlement settlement = Settlement.of(interrupted.callId(), outcome);
        Optional<String> result = Optional.ofNullable(payload.path("result").textValue())
                .filter(text -> outcome == Settlement.Outcome.DONE);
        return OutboundMessage.settlement(result.map(settlement::withResult).orElse(settlement));
    }

    private static void require(Caller caller, CallerRole role) {
        if (!caller.may(role)) {
            throw HttpProblem.of(403, "RoleRequired", "requires the role " + role.wireName());
        }
    }
}
