package dev.waymark.server.aisdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.front.ChatForks;
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
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The operations of a chat of the AI SDK. */
public final class UiChatRoutes {
    private static final int BODY_BYTES = 8 * 1024 * 1024;
    private static final String OPERATION = "ai-sdk";
    private static final String CHAT = "/v1/ai-sdk/{agent}/{chat}";
    private static final String OUTPUT = "output-available";
    private static final String ERROR = "output-error";
    private static final Set<String> ANSWERED = Set.of(ApprovalResponse.STATE, OUTPUT);
    private static final Map<String, String> STREAM_HEADERS = Map.of("x-vercel-ai-ui-message-stream", "v1");

    private final FrontEndThreads threads;
    private final ChatForks forks;

    private UiChatRoutes(FrontEndThreads threads, ChatForks forks) {
        this.threads = threads;
        this.forks = forks;
    }

    public static List<Route> of(AgentClient client, AgentCatalog agents, Executor readers) {
        FrontEndThreads threads = new FrontEndThreads(client, agents, readers, OPERATION);
        UiChatRoutes routes = new UiChatRoutes(threads, new ChatForks(client, threads, OPERATION));
        return List.of(
                Route.post("runUiChat", "/v1/ai-sdk/{agent}", CallerRole.LOOK, routes::submit)
                        .taking(BODY_BYTES),
                Route.get("readUiChat", CHAT, routes::messages),
                Route.get("resumeUiChat", CHAT + "/stream", routes::reconnect));
    }

    private HttpAnswer submit(ApiRequest request) {
        JsonNode messages = request.json().path("messages");
        return stream(begin(request), requestIds(messages.path(messages.size() - 1)));
    }

    private HttpStream stream(FrontEndRun run, Set<String> shown) {
        return threads.stream(run, STREAM_HEADERS, sent -> new UiStreamView(run, shown, sent));
    }

    /** The ids of the approvals and questions in a message. */
    private static Set<String> requestIds(JsonNode message) {
        Set<String> ids = new HashSet<>();
        message.path("parts").forEach(part -> {
            ids.add(part.path("approval").path("id").asText());
            if (!part.path("providerExecuted").booleanValue()) {
                ids.add(callId(part));
            }
        });
        return ids;
    }

    private FrontEndRun begin(ApiRequest request) {
        JsonNode body = request.json();
        String chat = request.text("id").orElseThrow();
        Optional<String> thread = forks.find(request.caller(), chat);
        JsonNode messages = body.path("messages");
        JsonNode last = messages.path(messages.size() - 1);
        Optional<String> about = request.text("messageId");
        if (request.text("trigger").filter("regenerate-message"::equals).isPresent()) {
            return forks.regenerate(
                    request.caller(), chat, threads.timeline(thread.orElseThrow(UiChatRoutes::missing)), about);
        }
        if (last.path("role").asText().equals("user")) {
            if (about.isPresent()) {
                return forks.edit(
                        request.caller(),
                        chat,
                        threads.timeline(thread.orElseThrow(UiChatRoutes::missing)),
                        about.get(),
                        Optional.of(messages.path(messages.size() - 2))
                                .filter(before -> before.path("role").asText().equals("assistant"))
                                .map(before -> before.path("id").asText()),
                        FrontEndContent.message(last.path("parts")));
            }
            if (!MessageIds.isOwn(last.path("id").asText())) {
                return threads.say(
                        request.caller(),
                        thread,
                        request.pathParameter("agent"),
                        new FrontEndMessage(
                                chat, last.path("id").asText(), FrontEndContent.message(last.path("parts"))));
            }
        }
        Timeline timeline = threads.timeline(thread.orElseThrow(UiChatRoutes::missing));
        List<OutboundMessage> answers = answers(request, last, timeline);
        return answers.isEmpty()
                ? FrontEndThreads.sinceDecided(timeline, callIds(last))
                : threads.send(timeline.thread(), answers);
    }

    private static HttpProblem missing() {
        return HttpProblem.notFound("no such chat, and no message to start one with");
    }

    /**
     * The answers to the pending items. Ignores the answers of earlier steps, which front ends repeat. An edit or a
     * settlement of an item that no longer waits is refused unless it repeats an earlier request.
     */
    private List<OutboundMessage> answers(ApiRequest request, JsonNode last, Timeline timeline) {
        if (request.json().has("edits")) {
            throw HttpProblem.badInput(
                    "edits in the body of a request are not supported, because a client loses them if "
                            + "another request sends the approval; send the arguments in its reason");
        }
        PendingAnswers.requireNoGrant(request.json());
        List<ApprovalResponse> responses = ApprovalResponse.in(last);
        List<PendingId> settled =
                names(request.json().path("settlements")).map(PendingId::parse).toList();
        FrontEndThreads.requireOneAnswerEach(parts(last, ANSWERED).map(UiChatRoutes::callId));
        FrontEndThreads.requireOneAnswerEach(settled.stream().map(PendingId::callId));
        Set<PendingItem> items = new LinkedHashSet<>(timeline.now().pending(timeline.thread()));
        Stream.concat(
                        responses.stream().filter(ApprovalResponse::isEdited).map(ApprovalResponse::about),
                        settled.stream())
                .map(id -> FrontEndThreads.lastWaiting(timeline, id))
                .forEach(items::add);
        List<OutboundMessage> answers = new ArrayList<>();
        items.forEach(item -> answer(request, last, responses, timeline, item)
                .map(answer -> threads.identified(
                        request.caller(), timeline.thread(), item.since().toString(), PendingId.of(item), answer))
                .ifPresent(answers::add));
        return answers;
    }

    private static Stream<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names.stream();
    }

    private static Optional<OutboundMessage> answer(
            ApiRequest request, JsonNode last, List<ApprovalResponse> responses, Timeline timeline, PendingItem item) {
        PendingAnswers by = new PendingAnswers(request.caller());
        return switch (item.kind()) {
            case APPROVAL ->
                responses.stream()
                        .filter(response -> response.about().callId().equals(item.callId()))
                        .findFirst()
                        .map(response -> {
                            response.requireShownInput(item);
                            return by.decision(
                                    response.about(), response.approved(), response.args(), response.reason());
                        });
            case UNKNOWN ->
                Optional.of(request.json().path("settlements").path(item.callId()))
                        .filter(JsonNode::isObject)
                        .map(settled -> by.settlement(item.callId(), settled));
            case QUESTION -> {
                boolean isOfFrontEnd = FrontEndThreads.isOfFrontEnd(timeline, item);
                yield parts(last, isOfFrontEnd ? Set.of(OUTPUT, ERROR) : Set.of(OUTPUT))
                        .filter(call -> callId(call).equals(item.callId()))
                        .findFirst()
                        .map(call -> isOfFrontEnd
                                ? by.output(item.callId(), call.path("output"), call.path("errorText"))
                                : by.answer(item.callId(), call.path("output")));
            }
        };
    }

    private static Set<String> callIds(JsonNode message) {
        return message.path("parts").findValuesAsText("toolCallId").stream().collect(Collectors.toSet());
    }

    private static Stream<JsonNode> parts(JsonNode message, Set<String> states) {
        return StreamSupport.stream(message.path("parts").spliterator(), false)
                .filter(part -> states.contains(part.path("state").asText()));
    }

    private static String callId(JsonNode part) {
        return part.path("toolCallId").asText();
    }

    private String thread(ApiRequest request) {
        return forks.find(request.caller(), request.pathParameter("chat")).orElseThrow(UiChatRoutes::missing);
    }

    private HttpAnswer messages(ApiRequest request) {
        String thread = thread(request);
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.set("messages", UiMessages.of(thread, threads.timeline(thread).now()));
        return HttpReply.json(200, document);
    }

    /**
     * Streams the running turn from its beginning. Answers with status 204 if no turn is running, as the client
     * expects.
     */
    private HttpAnswer reconnect(ApiRequest request) {
        Optional<Timeline> running = forks.find(request.caller(), request.pathParameter("chat"))
                .map(threads::timeline)
                .filter(timeline -> !timeline.now().isSettled());
        return running.isEmpty() ? HttpReply.empty(204) : stream(FrontEndThreads.newestTurn(running.get()), Set.of());
    }
}
