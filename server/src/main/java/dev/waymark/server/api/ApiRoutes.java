package dev.waymark.server.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpAnswer;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The operations of the API, except those for the protocols of front ends. */
public final class ApiRoutes {
    private ApiRoutes() {}

    /**
     * Creates the routes.
     *
     * @param document the content of {@code /v1/openapi.json}
     * @param settings where Temporal's Web UI is
     * @param readers executes the reads of histories for event streams
     */
    public static List<Route> of(
            AgentClient client, AgentCatalog agents, JsonNode document, HttpSettings settings, Executor readers) {
        ThreadAccess access = new ThreadAccess(client);
        List<Route> routes = new ArrayList<>();
        routes.add(Route.open("getDocument", "GET", "/v1/openapi.json", request -> HttpReply.json(200, document)));
        routes.add(Route.open("getHealth", "GET", "/v1/health", request -> healthy()));
        Optional<String> threadsInWebUi = settings.webUi()
                .map(address -> address + "/namespaces/" + URLEncoder.encode(client.namespace(), StandardCharsets.UTF_8)
                        + "/workflows");
        routes.add(Route.get("getCaller", "/v1/me", request -> caller(request, client, threadsInWebUi)));
        routes.add(Route.get(
                "listAgents",
                "/v1/agents",
                request -> HttpReply.json(200, JsonDocuments.tree(Map.of("agents", agents.agents())))));
        routes.addAll(new ThreadStarts(client, access, agents).routes());
        routes.addAll(new ThreadListRoutes(client).routes());
        routes.addAll(new ThreadReads(client, access).routes());
        routes.addAll(new ThreadEvents(client, access, readers).routes());
        routes.addAll(new ThreadCommands(client, access).routes());
        routes.addAll(new ScheduleRoutes(client, access, agents).routes());
        return List.copyOf(routes);
    }

    private static HttpAnswer healthy() {
        return HttpReply.json(200, PayloadJson.MAPPER.createObjectNode().put("status", "ok"));
    }

    private static HttpAnswer caller(ApiRequest request, AgentClient client, Optional<String> threadsInWebUi) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        request.caller().subject().ifPresent(who -> {
            document.put("subject", who.subject());
            who.issuer().ifPresent(issuer -> document.put("issuer", issuer));
        });
        document.set(
                "groups",
                JsonDocuments.tree(request.caller().groups().stream().sorted().toList()));
        document.set(
                "roles",
                JsonDocuments.tree(Arrays.stream(CallerRole.values())
                        .filter(request.caller()::may)
                        .map(CallerRole::wireName)
                        .toList()));
        ObjectNode temporal = document.putObject("temporal").put("namespace", client.namespace());
        client.address().ifPresent(address -> temporal.put("address", address));
        threadsInWebUi.ifPresent(address -> document.put("webUi", address));
        return HttpReply.json(200, document);
    }
}
