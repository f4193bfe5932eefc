package dev.waymark.server.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.CallLog;
import dev.waymark.client.document.GrantItem;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.display.SafeText;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.Route;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The operations that read threads from their histories. They need no worker. */
final class ThreadReads {
    private final AgentClient client;
    private final ThreadAccess access;

    ThreadReads(AgentClient client, ThreadAccess access) {
        this.client = client;
        this.access = access;
    }

    List<Route> routes() {
        return List.of(
                Route.get("getThread", "/v1/threads/{thread}", this::thread),
                Route.get(
                        "listMessages",
                        "/v1/threads/{thread}/messages",
                        request -> list(
                                request,
                                "messages",
                                timeline -> JsonDocuments.tree(RunnerCheckpoint.messages(timeline.now())))),
                Route.get("getConversation", "/v1/threads/{thread}/conversation", this::conversation),
                Route.get("getFile", "/v1/threads/{thread}/files/{path}", this::file),
                Route.get(
                        "listPending",
                        "/v1/threads/{thread}/pending",
                        request -> list(request, "pending", timeline -> JsonDocuments.tree(timeline.pending()))),
                Route.get(
                        "listCalls",
                        "/v1/threads/{thread}/calls",
                        request -> list(
                                request,
                                "calls",
                                timeline -> CallLog.document(CallLog.of(timeline), CallLog.results(timeline)))),
                Route.get(
                        "listGrants",
                        "/v1/threads/{thread}/grants",
                        request -> list(
                                request,
                                "grants",
                                timeline -> JsonDocuments.tree(GrantItem.of(timeline.now(), Instant.now())))),
                Route.get(
                        "listVersions",
                        "/v1/threads/{thread}/versions",
                        request -> list(request, "versions", JsonDocuments::versions)),
                Route.get(
                        "listMoments",
                        "/v1/threads/{thread}/moments",
                        request -> list(request, "moments", timeline -> moments(timeline, moment(request, timeline)))),
                Route.get("getResult", "/v1/threads/{thread}/result", request -> read(request, ThreadReads::result)),
                Route.get("getCheckpoint", "/v1/threads/{thread}/checkpoint", this::checkpoint));
    }

    private HttpAnswer read(ApiRequest request, Function<Timeline, JsonNode> view) {
        return HttpReply.json(200, view.apply(timeline(request)));
    }

    /** Answers with a list as a field of an object, like the lists that have pages. */
    private HttpAnswer list(ApiRequest request, String name, Function<Timeline, JsonNode> view) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.set(name, view.apply(timeline(request)));
        return HttpReply.json(200, document);
    }

    private Timeline timeline(ApiRequest request) {
        return client.timeline(access.visible(request.caller(), request.pathParameter("thread")));
    }

    private HttpAnswer conversation(ApiRequest request) {
        Timeline timeline = timeline(request);
        return HttpReply.json(200, ConversationDocument.of(timeline, moment(request, timeline)));
    }

    /** The moment that the request names; empty for the newest state. */
    private static Optional<Moment> moment(ApiRequest request, Timeline timeline) {
        Optional<String> place = request.queryParameter("at");
        return place.isPresent()
                ? Optional.of(timeline.at(place.get())
                        .orElseThrow(() -> HttpProblem.notFound("no such version: " + place.get())))
                : Optional.empty();
    }

    /** The moments from the previous version up to this moment; without a moment, up to the newest one. */
    private static JsonNode moments(Timeline whole, Optional<Moment> at) {
        List<Moment> moments = at.map(whole::upTo).orElse(whole).moments();
        int first = moments.size() - 1;
        while (first > 0 && version(moments, first - 1) == version(moments, Math.max(0, first - 2))) {
            first--;
        }
        ArrayNode rows = PayloadJson.MAPPER.createArrayNode();
        for (Moment moment : moments.subList(Math.max(0, first), moments.size())) {
            ObjectNode document = JsonDocuments.of(moment);
            ObjectNode row = rows.addObject();
            for (String field : List.of("at", "runId", "eventId", "type")) {
                row.set(field, document.get(field));
            }
            row.put("text", SafeText.json(document.toString()));
        }
        return rows;
    }

    private static int version(List<Moment> moments, int index) {
        return moments.get(index).state().counters().versions();
    }

    /** A file of the agent's workspace, which exists only in the thread. */
    private HttpAnswer file(ApiRequest request) {
        Timeline timeline = timeline(request);
        Conversation state = moment(request, timeline).map(Moment::state).orElseGet(timeline::now);
        String path = request.pathParameter("path");
        Workspace.VirtualFile file =
                state.workspace().files().get(path).orElseThrow(() -> HttpProblem.notFound("no such file: " + path));
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("path", path);
        document.setAll((ObjectNode) JsonDocuments.tree(file));
        return HttpReply.json(200, document);
    }

    private HttpAnswer thread(ApiRequest request) {
        Timeline timeline = timeline(request);
        ObjectNode document = JsonDocuments.show(timeline, client.inspector().running(timeline));
        document.remove(List.of("messages", "wholeResults"));
        client.lists()
                .forkSource(timeline.thread())
                .ifPresent(source -> document.set("forkedFrom", JsonDocuments.tree(source)));
        return HttpReply.json(200, document);
    }

    /** The result of the latest turn, or the status {@code running} while that turn runs. */
    private static ObjectNode result(Timeline timeline) {
        if (timeline.now().turn().status() == Turn.Status.NONE) {
            throw HttpProblem.notFound("the thread has no turn yet");
        }
        boolean over = timeline.now().isSettled() || timeline.ending().isPresent();
        if (!over) {
            ObjectNode document = PayloadJson.MAPPER.createObjectNode();
            document.put("status", "running");
            document.put("thread", timeline.thread());
            document.put("runId", timeline.runId());
            return document;
        }
        return JsonDocuments.of(AgentResult.of(
                timeline.thread(),
                timeline.runId(),
                timeline.now(),
                timeline.now().turn()));
    }

    private HttpAnswer checkpoint(ApiRequest request) {
        CheckpointFormat format = request.queryParameter("format")
                .map(name -> CheckpointFormat.of(name)
                        .orElseThrow(() -> HttpProblem.badInput("no such format: " + name + ". Formats are "
                                + String.join(", ", CheckpointFormat.names()))))
                .orElse(CheckpointFormat.RUNNER);
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        return HttpReply.json(
                200,
                JsonDocuments.tree(request.queryParameter("at")
                        .map(place -> CheckpointViews.of(format, client.timeline(thread, place)))
                        .orElseGet(() -> client.checkpoint(thread, format))));
    }
}
