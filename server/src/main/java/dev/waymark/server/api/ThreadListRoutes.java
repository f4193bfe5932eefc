package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.http.Route;
import dev.waymark.thread.StatusReport;
import dev.waymark.thread.ThreadOwner;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The operation that lists threads, once or as a stream. */
final class ThreadListRoutes {
    private static final int PAGE = 20;
    static final int LARGEST_PAGE = 100;
    private static final int LONGEST_SEARCH = 200;
    private static final String STREAM = "text/event-stream";

    private static final Progress UNREADABLE_LOGGED = new UnreadableThreads();

    /** Lists have their own readers: they read many histories at a time, which must not delay other streams. */
    private static final Executor READERS = Executors.newFixedThreadPool(2, DaemonThreads.named("waymark-lists"));

    private final AgentClient client;

    ThreadListRoutes(AgentClient client) {
        this.client = client;
    }

    List<Route> routes() {
        return List.of(Route.get("listThreads", "/v1/threads", this::list));
    }

    private HttpAnswer list(ApiRequest request) {
        ThreadPageRequest wanted = wanted(request);
        if (request.header("Accept").filter(types -> types.contains(STREAM)).isEmpty()) {
            return HttpReply.json(200, document(page(request, wanted)));
        }
        // Reads the list once before the stream begins, so that a bad request is answered with a problem, not a stream.
        return new HttpStream(Map.of(), new ThreadListStream(() -> withWaiting(request, wanted), READERS));
    }

    private ThreadPage page(ApiRequest request, ThreadPageRequest wanted) {
        return client.lists().threads(wanted, owner -> request.caller().sees(owner), UNREADABLE_LOGGED);
    }

    private static ObjectNode document(ThreadPage page) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.set("threads", JsonDocuments.tree(page.threads()));
        page.next().ifPresent(next -> document.put("next", next));
        return document;
    }

    /** A page, and the threads of all pages that match and wait for a person. */
    private ObjectNode withWaiting(ApiRequest request, ThreadPageRequest wanted) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode().put("type", "threads");
        ThreadPage page = page(request, wanted);
        document.setAll(document(page));
        // Each thread of a page is read from the server.
        boolean hasAll = wanted.after().isEmpty()
                && wanted.status().isEmpty()
                && page.next().isEmpty();
        List<ThreadSummary> waiting = hasAll
                ? wanted.waitingOf(page.threads())
                : client.lists().waiting(wanted, owner -> request.caller().sees(owner), UNREADABLE_LOGGED);
        document.set("waiting", JsonDocuments.tree(waiting.subList(0, Math.min(wanted.limit(), waiting.size()))));
        return document.put("waitingCount", waiting.size());
    }

    private static ThreadPageRequest wanted(ApiRequest request) {
        ThreadPageRequest wanted = new ThreadPageRequest(
                limit(request),
                request.queryParameter("after"),
                request.queryParameter("open").map(ThreadListRoutes::flag).orElse(false),
                status(request),
                request.queryParameter("agent"));
        wanted = since(request).map(wanted::since).orElse(wanted);
        wanted = owner(request).map(wanted::ofOwner).orElse(wanted);
        return search(request).map(wanted::searching).orElse(wanted);
    }

    static int limit(ApiRequest request) {
        Optional<String> limit = request.queryParameter("limit");
        if (limit.isEmpty()) {
            return PAGE;
        }
        if (!limit.get().matches("[1-9]\\d{0,2}") || Integer.parseInt(limit.get()) > LARGEST_PAGE) {
            throw HttpProblem.badInput("limit must be 1 to " + LARGEST_PAGE + ", not " + limit.get());
        }
        return Integer.parseInt(limit.get());
    }

    private static Optional<String> status(ApiRequest request) {
        Optional<String> status = request.queryParameter("status");
        status.filter(name -> !StatusReport.STATUSES.contains(name)).ifPresent(name -> {
            throw HttpProblem.badInput(
                    "no such status: " + name + ". Use one of " + String.join(", ", StatusReport.STATUSES));
        });
        return status;
    }

    private static boolean flag(String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw HttpProblem.badInput("open must be true or false, not " + value);
        };
    }

    private static Optional<Instant> since(ApiRequest request) {
        return request.queryParameter("since").map(text -> {
            try {
                return Instant.parse(text);
            } catch (DateTimeParseException e) {
                throw HttpProblem.badInput("since must be a time such as 2026-01-31T08:00:00Z, not " + text);
            }
        });
    }

    private static Optional<ThreadOwner> owner(ApiRequest request) {
        Optional<ThreadOwner> subject = request.queryParameter("owner").map(ThreadOwner::ofSubject);
        Optional<ThreadOwner> group = request.queryParameter("group").map(ThreadOwner::ofGroup);
        if (subject.isPresent() && group.isPresent()) {
            throw HttpProblem.badInput("a thread has one owner; send either owner or group");
        }
        return subject.or(() -> group);
    }

    private static Optional<String> search(ApiRequest request) {
        Optional<String> words =
                request.queryParameter("search").map(String::strip).filter(text -> !text.isEmpty());
        words.filter(text -> text.length() > LONGEST_SEARCH).ifPresent(text -> {
            throw HttpProblem.badInput(
                    "search must have at most " + LONGEST_SEARCH + " characters, not " + text.length());
        });
        return words;
    }
}
