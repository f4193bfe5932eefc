package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.checkpoint.CheckpointFormat;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.api.ThreadAccess;
import dev.waymark.server.api.UnreadableThreads;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Threads as resources, as a checkpoint in each documented format. */
final class ThreadResources {
    private static final String SCHEME = "waymark://threads/";
    private static final String JSON = "application/json";
    private static final int PAGE = 50;

    private final AgentClient client;
    private final ThreadAccess access;

    ThreadResources(AgentClient client) {
        this.client = client;
        this.access = new ThreadAccess(client);
    }

    /** A thread in a format. */
    record Place(String thread, CheckpointFormat format) {}

    /** The threads that the caller may see, newest first, a page at a time. */
    ObjectNode list(McpRequest request) {
        ThreadPage page = client.lists()
                .threads(
                        new ThreadPageRequest(
                                PAGE, request.optionalText("cursor"), false, Optional.empty(), Optional.empty()),
                        owner -> request.caller().sees(owner),
                        new UnreadableThreads());
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        ArrayNode resources = result.putArray("resources");
        page.threads().forEach(thread -> resources.add(resource(thread)));
        page.next().ifPresent(next -> result.put("nextCursor", next));
        return result;
    }

    private static ObjectNode resource(ThreadSummary thread) {
        ObjectNode resource = PayloadJson.MAPPER
                .createObjectNode()
                .put("uri", uri(thread.thread(), CheckpointFormat.RUNNER))
                .put("name", thread.thread())
                .put("description", thread.agent() + ", " + thread.status())
                .put("mimeType", JSON);
        thread.title().ifPresent(title -> resource.put("title", title));
        resource.putObject("annotations").put("lastModified", thread.updated().toString());
        return resource;
    }

    ObjectNode templates() {
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.putArray("resourceTemplates")
                .addObject()
                .put("uriTemplate", SCHEME + "{thread}/{format}")
                .put("name", "checkpoint")
                .put(
                        "description",
                        "A thread's checkpoint. Formats: " + String.join(", ", CheckpointFormat.names()) + ".")
                .put("mimeType", JSON);
        return result;
    }

    ObjectNode read(McpRequest request) {
        String uri = request.text("uri");
        Place place = place(request.caller(), uri);
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.putArray("contents")
                .addObject()
                .put("uri", uri)
                .put("mimeType", JSON)
                .put(
                        "text",
                        JsonDocuments.tree(client.checkpoint(place.thread(), place.format()))
                                .toString());
        return result;
    }

    /** Finds the thread and the format that a URI names. */
    Place place(Caller caller, String uri) {
        int slash = uri.lastIndexOf('/');
        if (!uri.startsWith(SCHEME) || slash < SCHEME.length()) {
            throw HttpProblem.notFound("no such resource: " + uri);
        }
        CheckpointFormat format = CheckpointFormat.of(uri.substring(slash + 1))
                .orElseThrow(() -> HttpProblem.notFound(
                        "no such format. Formats are " + String.join(", ", CheckpointFormat.names())));
        return new Place(access.visible(caller, decoded(uri.substring(SCHEME.length(), slash))), format);
    }

    private static String uri(String thread, CheckpointFormat format) {
        return SCHEME + URLEncoder.encode(thread, StandardCharsets.UTF_8).replace("+", "%20") + "/" + format.wireName();
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw HttpProblem.badInput("not percent-encoded UTF-8: " + text);
        }
    }
}
