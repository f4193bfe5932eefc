package dev.waymark.server;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.model.ModelProvider;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.identity.StaticTokens;
import dev.waymark.server.mcp.McpSettings;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A Temporal server, a worker with a few agents, and API servers that accept the tokens below. */
final class ServedThreads implements AutoCloseable {
    static final String ANN = "wm_ann_00000000000000000000000000000000";
    static final String BOB = "wm_bob_00000000000000000000000000000000";
    /** Carol is in the group {@code support}, like Dave, and may decide but not talk. */
    static final String CAROL = "wm_carol_000000000000000000000000000000";

    static final String DAVE = "wm_dave_0000000000000000000000000000000";
    /** May import for the group of Carol and Dave. */
    static final String IMPORTER = "wm_importer_00000000000000000000000000000";

    static final String OPERATOR = "wm_operator_00000000000000000000000000";
    static final String LOOKER = "wm_looker_0000000000000000000000000000";
    static final String EXPIRED = "wm_expired_000000000000000000000000000";

    /** A tool that needs approval. Its result contains the arguments that it ran with. */
    private static final String CHARGE = """
              - name: charge_card
                description: Charges
                input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                command: ["cat"]
                approval: always
            """;

    private final DevServer temporal;
    private final Connection connection;
    private final Optional<AgentWorker> worker;
    private final Path tokens;
    private final Path agents;
    private final List<AutoCloseable> open = new ArrayList<>();

    private ServedThreads(
            DevServer temporal, Connection connection, Optional<AgentWorker> worker, Path tokens, Path agents)
            throws IOException {
        this.temporal = temporal;
        this.connection = connection;
        this.worker = worker;
        this.tokens = tokens;
        writeTokens(tokens);
        this.agents = agents;
    }

    static ServedThreads inMemory(Path directory, Map<String, ModelProvider> models) throws Exception {
        return on(InMemoryServer.start(0), directory, models);
    }

    static ServedThreads on(DevServer temporal, Path directory, Map<String, ModelProvider> models) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        writeAgents(agents);
        Map<String, ModelProvider> providers = new LinkedHashMap<>(models);
        providers.put(ScriptedProvider.NAME, new ScriptedProvider(agents));
        for (String name : models.keySet()) {
            Files.writeString(agents.resolve(name + ".yaml"), "model: " + name + ":any\n");
        }
        ModelProviders known = ModelProviders.of(providers);
        Connection connection = Connection.to(temporal.address());
        AgentWorker worker = AgentWorker.builder(connection.client())
                .agents(AgentDirectory.load(agents, known, JavaTools.NONE))
                .providers(known)
                .build();
        worker.start();
        return new ServedThreads(temporal, connection, Optional.of(worker), directory.resolve("tokens.json"), agents);
    }

    /** Starts everything except a worker. The agents are in the directory {@code agents}. */
    static ServedThreads withoutWorker(DevServer temporal, Path directory) throws Exception {
        return new ServedThreads(
                temporal,
                Connection.to(temporal.address()),
                Optional.empty(),
                directory.resolve("tokens.json"),
                directory.resolve("agents"));
    }

    private static void writeAgents(Path agents) throws IOException {
        Files.writeString(
                agents.resolve("assistant.yaml"),
                "description: Says hello\nmodel: scripted:assistant.script.yaml\ncontext: { tenant: acme }\n");
        Files.writeString(agents.resolve("assistant.script.yaml"), "replies:\n  - text: Hello.\n");
        Files.writeString(
                agents.resolve("asker.yaml"),
                "model: scripted:asker.script.yaml\napprovals: { by: human, timeout: 10h }\ntools:\n  - use: ask_user\n");
        Files.writeString(agents.resolve("asker.script.yaml"), """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: ask_user, input: { question: "Which day?" } }
                      - { id: tu_2, name: ask_user, input: { question: "Which seat?" } }
                  - text: Booked.
                """);
        Files.writeString(
                agents.resolve("shopper.yaml"),
                "model: scripted:shopper.script.yaml\ntools:\n  - use: ask_user\n" + CHARGE);
        Files.writeString(agents.resolve("shopper.script.yaml"), """
                replies:
                  - text: Before I pay.
                    tool_calls:
                      - { id: tu_1, name: ask_user, input: { question: "Which day?" } }
                      - { id: tu_2, name: charge_card, input: { cents: 9900 } }
                      - { id: tu_3, name: charge_card, input: { cents: 5100 } }
                  - text: Paid.
                """);
        Files.writeString(agents.resolve("guide.yaml"), """
                model: scripted:guide.script.yaml
                tools:
                  - name: pick_seat
                    description: Lets the user pick a seat on the plan in the page
                    input: { type: object, required: [row], properties: { row: { type: integer } } }
                    front_end: true
                """);
        Files.writeString(agents.resolve("guide.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: pick_seat, input: { row: 12 } }]
                  - text: "It is {{tu_1}}"
                """);
        Files.writeString(agents.resolve("billing.yaml"), "model: scripted:billing.script.yaml\ntools:\n" + CHARGE);
        Files.writeString(agents.resolve("billing.script.yaml"), """
                replies:
                  - text: Charging now.
                    tool_calls: [{ id: tu_1, name: charge_card, input: { cents: 8400 } }]
                  - text: Charged.
                """);
    }

    private static void writeTokens(Path file) throws IOException {
        Files.writeString(
                file,
                "{\"tokens\":["
                        + String.join(
                                ",",
                                entry(ANN, "ann", "", "\"talk\",\"decide\"", ""),
                                entry(BOB, "bob", "", "\"talk\",\"decide\"", ""),
                                entry(CAROL, "carol", "\"support\"", "\"decide\"", ""),
                                entry(DAVE, "dave", "\"support\"", "\"talk\"", ""),
                                entry(IMPORTER, "importer", "\"support\"", "\"operate\",\"decide\"", ""),
                                entry(OPERATOR, "op", "", "\"talk\",\"operate\"", ""),
                                entry(LOOKER, "ann", "", "\"look\"", ""),
                                entry(EXPIRED, "ann", "", "\"talk\"", ",\"expires\":\"2020-01-01T00:00:00Z\""))
                        + "]}");
    }

    private static String entry(String token, String subject, String groups, String roles, String more) {
        return "{\"sha256\":\"" + StaticTokens.hash(token) + "\",\"subject\":\"" + subject + "\",\"groups\":[" + groups
                + "],\"roles\":[" + roles + "]" + more + "}";
    }

    Path tokens() {
        return tokens;
    }

    String temporalAddress() {
        return temporal.address();
    }

    /** Starts an API server on a free port. */
    ApiServer serve() throws IOException {
        return serve(HttpSettings.at("127.0.0.1", 0).withLimits(1_000, 200, 1_000));
    }

    ApiServer serve(HttpSettings settings) throws IOException {
        AgentClient client = client();
        ApiServer server = ApiServer.start(
                client, settings, new AgentCatalog(Optional.of(agents)), Optional.of(StaticTokens.of(tokens)));
        open.add(server);
        return server;
    }

    /** Starts an API server with these settings for clients of MCP. */
    ApiServer serve(McpSettings mcp) throws IOException {
        AgentClient client = client();
        ApiServer server = ApiServer.start(
                client,
                HttpSettings.at("127.0.0.1", 0).withLimits(1_000, 200, 1_000),
                new AgentCatalog(Optional.of(agents)),
                Optional.of(StaticTokens.of(tokens)),
                mcp,
                RuntimeException::printStackTrace);
        open.add(server);
        return server;
    }

    ApiServer serveUnchecked(HttpSettings settings) throws IOException {
        ApiServer server = ApiServer.start(client(), settings, new AgentCatalog(Optional.of(agents)), Optional.empty());
        open.add(server);
        return server;
    }

    /** Starts an API server that lists the agents that workers report. */
    ApiServer serveAgentsOfWorkers() throws IOException {
        AgentClient client = client();
        ApiServer server = ApiServer.start(
                client,
                HttpSettings.at("127.0.0.1", 0),
                AgentCatalog.ofWorkers(client),
                Optional.of(StaticTokens.of(tokens)));
        open.add(server);
        return server;
    }

    /** Starts a thread with this input, as any client of the Temporal server could. */
    void startRaw(String thread, Map<String, ?> input) {
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId(thread)
                                .build())
                .start(input);
    }

    /** Terminates a thread on the server, at any point. */
    void terminate(String thread) {
        connection.client().newUntypedWorkflowStub(thread).terminate("by a test");
    }

    AgentClient client() {
        AgentClient client = AgentClient.connect(temporal.address());
        open.add(0, client);
        return client;
    }

    @Override
    public void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        worker.ifPresent(AgentWorker::close);
        connection.close();
        temporal.close();
    }
}
