package dev.waymark.server.api;

import dev.waymark.client.AgentClient;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpStream;
import dev.waymark.server.http.Route;
import dev.waymark.server.stream.PlainMapping;
import dev.waymark.server.stream.WatchStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** The operation that streams a thread's events. */
final class ThreadEvents {
    private final AgentClient client;
    private final ThreadAccess access;
    private final Executor readers;

    ThreadEvents(AgentClient client, ThreadAccess access, Executor readers) {
        this.client = client;
        this.access = access;
        this.readers = readers;
    }

    List<Route> routes() {
        return List.of(Route.get("watchThread", "/v1/threads/{thread}/events", this::watch));
    }

    private HttpAnswer watch(ApiRequest request) {
        String thread = access.visible(request.caller(), request.pathParameter("thread"));
        return new HttpStream(
                Map.of(),
                new WatchStream(
                        client.inspector().openWatch(thread, request.header("Last-Event-ID"), readers),
                        new PlainMapping(),
                        readers));
    }
}
