package dev.waymark.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.server.agui.AgUiRoutes;
import dev.waymark.server.aisdk.UiChatRoutes;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.api.ApiRoutes;
import dev.waymark.server.api.Failures;
import dev.waymark.server.console.ConsoleFiles;
import dev.waymark.server.document.ApiDocument;
import dev.waymark.server.http.HttpEndpoint;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.Authenticator;
import dev.waymark.server.identity.IdentityProblem;
import dev.waymark.server.mcp.McpRoutes;
import dev.waymark.server.mcp.McpSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves threads over HTTP, and the console at {@code /}. Stores no state: any number of instances may serve the same
 * threads, and each can be killed at any time.
 *
 * <pre>{@code
 * try (AgentClient client = AgentClient.connect();
 *         ApiServer server = ApiServer.start(
 *                 client,
 *                 HttpSettings.at("127.0.0.1", 8090),
 *                 new AgentCatalog(Optional.empty()),
 *                 Optional.of(StaticTokens.of(Path.of("tokens.json"))))) {
 *     System.out.println(server.address());
 *     new CountDownLatch(1).await();
 * }
 * }</pre>
 */
public final class ApiServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ApiServer.class);

    /** All streams share the readers: a stream uses one only while it has something to read. */
    private static final int READERS = 8;

    private final HttpEndpoint endpoint;
    private final ExecutorService readers;

    private ApiServer(HttpEndpoint endpoint, ExecutorService readers) {
        this.endpoint = endpoint;
        this.readers = readers;
    }

    /**
     * Starts the server, which logs internal failures.
     *
     * @param authenticator empty to disable authentication, which requires a loopback address
     * @throws IdentityProblem if authentication is disabled and the address is not a loopback address
     */
    public static ApiServer start(
            AgentClient client, HttpSettings settings, AgentCatalog agents, Optional<Authenticator> authenticator)
            throws IOException {
        return start(
                client,
                settings,
                agents,
                authenticator,
                McpSettings.withRandomKey(),
                e -> LOG.error("A request failed", e));
    }

    /**
     * Starts the server.
     *
     * @param mcp settings of the Model Context Protocol
     * @param unexpected receives internal failures, whose details are not shown to callers
     */
    public static ApiServer start(
            AgentClient client,
            HttpSettings settings,
            AgentCatalog agents,
            Optional<Authenticator> authenticator,
            McpSettings mcp,
            Consumer<RuntimeException> unexpected)
            throws IOException {
        ExecutorService readers = Executors.newFixedThreadPool(READERS, DaemonThreads.named("waymark-streams"));
        ApiDocument document = ApiDocument.load();
        HttpSettings checked = authenticator.isPresent() ? settings : loopbackOnly(settings);
        Function<RuntimeException, HttpProblem> failures = failure -> {
            HttpProblem problem = Failures.of(failure);
            if (problem.status() == 500) {
                unexpected.accept(failure);
            }
            return problem;
        };
        JsonNode shown = authenticator.isPresent() ? document.json() : document.withoutAuthentication();
        HttpEndpoint endpoint = HttpEndpoint.start(
                checked,
                routes(client, agents, shown, settings, readers, mcp, failures),
                ConsoleFiles.load(),
                document,
                authenticator,
                failures);
        return new ApiServer(endpoint, readers);
    }

    static List<Route> routes(
            AgentClient client,
            AgentCatalog agents,
            JsonNode document,
            HttpSettings settings,
            Executor readers,
            McpSettings mcp,
            Function<RuntimeException, HttpProblem> failures) {
        List<Route> routes = new ArrayList<>(ApiRoutes.of(client, agents, document, settings, readers));
        routes.addAll(AgUiRoutes.of(client, agents, readers));
        routes.addAll(UiChatRoutes.of(client, agents, readers));
        routes.add(McpRoutes.of(client, agents, readers, mcp, failures));
        return routes;
    }

    private static HttpSettings loopbackOnly(HttpSettings settings) throws IOException {
        if (!InetAddress.getByName(settings.host()).isLoopbackAddress()) {
            throw new IdentityProblem("without authentication, host must be loopback, not " + settings.host());
        }
        return settings.forLoopbackOnly();
    }

    /** The URL that the server listens on. */
    public String address() {
        return endpoint.address();
    }

    public int port() {
        return endpoint.port();
    }

    /**
     * Rejects new requests, ends the streams, and waits until running requests and streams have ended, at most this
     * long.
     */
    public void drain(Duration most) {
        endpoint.drain(most);
    }

    @Override
    public void close() {
        endpoint.close();
        readers.shutdownNow();
    }
}
