package dev.waymark.server;

import dev.waymark.client.AgentClient;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.identity.StaticTokens;
import dev.waymark.testkit.crash.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** An API server in a separate JVM, which can be killed. */
final class ServerInstance {
    private ServerInstance() {}

    /**
     * Starts an instance. Returns once it listens.
     *
     * @param origin the origin of the pages that may send requests
     */
    static WorkerProcess start(String temporal, Path agents, Path tokens, int port, String origin)
            throws IOException, InterruptedException {
        return WorkerProcess.start(
                ServerInstance.class, temporal, agents.toString(), tokens.toString(), String.valueOf(port), origin);
    }

    public static void main(String[] arguments) throws Exception {
        HttpSettings settings = HttpSettings.at("127.0.0.1", Integer.parseInt(arguments[3]))
                .withCorsOrigins(List.of(arguments[4]))
                .withLimits(1_000, 200, 1_000);
        ApiServer.start(
                AgentClient.connect(arguments[0]),
                settings,
                new AgentCatalog(Optional.of(Path.of(arguments[1]))),
                Optional.of(StaticTokens.of(Path.of(arguments[2]))));
        WorkerProcess.work();
    }
}
