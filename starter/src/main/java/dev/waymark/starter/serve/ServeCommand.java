package dev.waymark.starter.serve;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.connect.FairShares;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.server.ApiServer;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.identity.Authenticator;
import dev.waymark.server.identity.IdentityProblem;
import dev.waymark.server.mcp.McpSettings;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.Durations;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.worker.MetricsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.SERVE,
        examples = {"serve --tokens tokens.json", "serve --no-auth"})
@Command(
        name = "serve",
        description =
                "Serves the console at /, threads over HTTP under /v1, and agents as tools of the Model Context Protocol at"
                        + " /mcp, until Ctrl-C. Any number of instances may serve the same threads. /v1/openapi.json"
                        + " describes the API.")
public final class ServeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private Output output;

    @Mixin
    private IdentityOptions identity;

    @Mixin
    private MetricsOptions metrics;

    @Option(names = "--host", paramLabel = "ADDRESS", description = "The address to listen on. Default: 127.0.0.1.")
    private String host = "127.0.0.1";

    @Option(names = "--port", paramLabel = "PORT", description = "The port to listen on; 0 chooses one. Default: 8090.")
    private int port = 8090;

    @Option(
            names = "--agents",
            paramLabel = "DIR",
            description =
                    "List only the agents in this directory, and start no others. Default: all agents that the workers report.")
    private @Nullable Path agents;

    @Option(
            names = "--cors-origin",
            paramLabel = "ORIGIN",
            description = "Accept requests from pages of this origin, such as https://app.example. Repeatable.")
    private List<String> origins = List.of();

    @Option(names = "--tls-cert", paramLabel = "FILE", description = "The certificate and its chain, in PEM.")
    private @Nullable Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "The certificate's private key, in PEM (PKCS #8).")
    private @Nullable Path key;

    @Option(
            names = "--plain-http",
            description = "Allow a non-loopback address without TLS, for use behind a proxy that terminates TLS.")
    private boolean plainHttp;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Maximum requests per second for each caller. Default: 20.")
    private double rate = 20;

    @Option(
            names = "--streams",
            paramLabel = "N",
            description = "Maximum number of open streams for each caller. Default: 50.")
    private int streams = 50;

    @Option(
            names = "--mcp-key",
            paramLabel = "FILE",
            description =
                    "A file with at least 32 random bytes, the same for all instances: it lets a client of /mcp continue a"
                            + " call at another instance. Default: a new key.")
    private @Nullable Path mcpKey;

    @Option(
            names = "--web-ui",
            paramLabel = "URL",
            description =
                    "The address of Temporal's Web UI, to which the console links, such as http://127.0.0.1:8233.")
    private @Nullable String webUi;

    @Option(
            names = "--drain",
            paramLabel = "DURATION",
            converter = Durations.class,
            description = "How long shutdown waits for running requests. Default: 10s.")
    private Duration drain = Duration.ofSeconds(10);

    @Override
    public Integer call() throws Exception {
        Optional<Authenticator> authenticator;
        HttpSettings settings;
        McpSettings mcp;
        try {
            authenticator = identity.authenticator();
            settings = settings();
            mcp = mcpSettings();
        } catch (IdentityProblem e) {
            throw misuse(String.valueOf(e.getMessage()));
        }
        AtomicBoolean isDraining = new AtomicBoolean();
        ConnectionOptions.silence();
        metrics.listen();
        try (MetricsOptions closed = metrics;
                AgentClient client = ConnectionOptions.toServer();
                LoadGauges gauges = LoadGauges.of(client.load(), metrics.registry());
                ApiServer server = ApiServer.start(client, settings, catalog(client), authenticator, mcp, this::log)) {
            metrics.readyWhen(() -> !isDraining.get());
            announce(server);
            if (ProcessEnvironment.get().containsKey(FairShares.VARIABLE) && !client.mayShareFairly()) {
                output.note(FairShares.VARIABLE
                        + " has no effect: this server has no fairness. Use Temporal 1.29 or newer");
            }
            if (metrics.url().isPresent()
                    && !client.saved().isInMemory()
                    && !client.lists().isIndexed()) {
                output.note("The gauges of what waits for people are NaN, because the server has no search attributes"
                        + " for threads: run `waymark setup` once");
            }
            try (ShutdownHandler ending = ShutdownHandler.listen(() -> {
                isDraining.set(true);
                server.drain(drain);
                server.close();
                return ExitCode.DONE;
            })) {
                new CountDownLatch(1).await();
            }
        } catch (IdentityProblem e) {
            throw misuse(String.valueOf(e.getMessage()));
        }
        return ExitCode.DONE;
    }

    private AgentCatalog catalog(AgentClient client) {
        return agents == null ? AgentCatalog.ofWorkers(client) : AgentCatalog.of(agents, client);
    }

    private McpSettings mcpSettings() throws IOException {
        if (mcpKey == null) {
            return McpSettings.withRandomKey();
        }
        byte[] key = Files.readAllBytes(mcpKey);
        if (key.length < McpSettings.LEAST_KEY_BYTES) {
            throw misuse("the key in " + mcpKey + " has " + key.length + " bytes. Make one with `openssl rand -out "
                    + mcpKey + " " + McpSettings.LEAST_KEY_BYTES + "`");
        }
        return McpSettings.withKey(key);
    }

    private HttpSettings settings() throws IOException {
        if ((certificate == null) != (key == null)) {
            throw misuse("--tls-cert and --tls-key must be given together");
        }
        if (agents != null && !Files.isDirectory(agents)) {
            throw misuse("no agents directory: " + agents);
        }
        boolean isLocal = InetAddress.getByName(host).isLoopbackAddress();
        if (identity.isAuthenticationDisabled() && !isLocal) {
            throw misuse("--no-auth requires a loopback address, not " + host);
        }
        Optional<HttpSettings.Tls> tls = certificate != null && key != null
                ? Optional.of(new HttpSettings.Tls(certificate, key))
                : Optional.empty();
        if (!isLocal && tls.isEmpty() && !plainHttp) {
            throw misuse("tokens would be sent unencrypted on " + host
                    + ": give --tls-cert and --tls-key, or --plain-http behind a proxy that terminates TLS");
        }
        HttpSettings defaults = HttpSettings.at(host, port);
        try {
            defaults = defaults.withWebUi(Optional.ofNullable(webUi));
        } catch (IllegalArgumentException e) {
            throw misuse("--web-ui: " + e.getMessage() + ". Use one such as http://127.0.0.1:8233");
        }
        return defaults.withTls(tls).withCorsOrigins(origins).withLimits(rate, streams, defaults.streams());
    }

    /** Prints a failure to stderr, because the command line disables loggers. */
    private void log(RuntimeException failure) {
        failure.printStackTrace(spec.commandLine().getErr());
        spec.commandLine().getErr().flush();
    }

    private ParameterException misuse(String words) {
        return new ParameterException(spec.commandLine(), words);
    }

    private void announce(ApiServer server) {
        if (output.isJson()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("ready", true);
            document.put("address", server.address());
            metrics.url().ifPresent(url -> document.put("metrics", url));
            output.document(JsonDocuments.tree(document));
        } else {
            output.line("API: " + server.address() + "/v1"
                    + (identity.isAuthenticationDisabled() ? " (no authentication, this machine only)" : "")
                    + metrics.url().map(url -> "\nMetrics: " + url).orElse(""));
        }
        spec.commandLine().getOut().flush();
    }
}
