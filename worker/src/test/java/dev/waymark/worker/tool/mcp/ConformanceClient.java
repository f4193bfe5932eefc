package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.McpTool;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.call.InputForm;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The worker's client, in the form in which the conformance suite of the protocol starts it: with the URL of a server.
 * It calls all tools and confirms whatever they ask.
 */
public final class ConformanceClient {
    private static final EffectKeys EFFECT = new EffectKeys(Optional.of("key-1"), OptionalLong.of(1));

    private ConformanceClient() {}

    public static void main(String[] words) throws Exception {
        String scenario = System.getenv("MCP_CONFORMANCE_SCENARIO");
        JsonNode given = PayloadJson.MAPPER.readTree(System.getenv().getOrDefault("MCP_CONFORMANCE_CONTEXT", "{}"));
        McpServer server = McpServer.at("server", words[0], Map.of());
        if (given.has("client_secret")) {
            server = server.withToken(McpToken.grantedTo(new McpToken.ClientCredentials(
                    tokenEndpoint(words[0]), given.path("client_id").asText(), "${SECRET}", Optional.empty())));
        }
        Map<String, String> environment =
                Map.of("SECRET", given.path("client_secret").asText());
        try (McpConnections servers = new McpConnections(environment, Path.of("."))) {
            List<RemoteTool> tools = servers.tools(server, fence()).stream()
                    .filter(tool -> ParameterHeaders.problem(tool.input()).isEmpty())
                    .toList();
            for (RemoteTool tool : scenario.equals("json-schema-ref-no-deref") ? List.<RemoteTool>of() : tools) {
                if (given.has("toolCalls")) {
                    for (JsonNode call : given.path("toolCalls")) {
                        if (tool.name().equals(call.path("name").asText())) {
                            call(servers, server, tool, call.path("arguments"));
                        }
                    }
                } else if (scenario.startsWith("json-schema")) {
                    call(
                            servers,
                            server,
                            tool,
                            JsonRpc.object().set("schema", tools.get(0).input()));
                } else {
                    call(servers, server, tool, JsonRpc.object().put("a", 2).put("b", 3));
                }
            }
        }
    }

    private static void call(McpConnections servers, McpServer server, RemoteTool tool, JsonNode args)
            throws Exception {
        Optional<Suspension> earlier = Optional.empty();
        for (int round = 0; round < 5; round++) {
            McpResult result = servers.call(
                    new McpTool(server, tool.name()),
                    PayloadJson.MAPPER.treeToValue(tool.input(), Json.class),
                    PayloadJson.MAPPER.treeToValue(args, Json.class),
                    EFFECT,
                    ToolRun.ServerTurn.inThread(earlier),
                    fence());
            if (result.suspension().isEmpty()) {
                return;
            }
            Suspension suspension = result.suspension().get();
            for (Optional<InputForm> form = suspension.form(); form.isPresent(); form = suspension.form()) {
                suspension = suspension.answered(form.get().response(FormAction.ACCEPT, "true", Optional.empty()));
            }
            earlier = Optional.of(suspension);
        }
    }

    private static ProcessFence fence() {
        return ProcessFence.in(Duration.ofSeconds(20));
    }

    /** The token endpoint comes from the server's metadata. In an agent file, its author specifies it. */
    private static String tokenEndpoint(String server) throws Exception {
        URI uri = URI.create(server);
        JsonNode resource = get(uri.resolve("/.well-known/oauth-protected-resource" + uri.getPath()));
        URI issuer = URI.create(resource.path("authorization_servers").path(0).asText());
        return get(URI.create(
                        issuer.getScheme() + "://" + issuer.getAuthority() + "/.well-known/oauth-authorization-server"
                                + issuer.getPath().replaceAll("/$", "")))
                .path("token_endpoint")
                .asText();
    }

    private static JsonNode get(URI uri) throws Exception {
        String body = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
        return PayloadJson.MAPPER.readTree(body);
    }
}
