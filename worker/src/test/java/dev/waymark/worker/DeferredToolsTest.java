package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.ToolServer;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deferred tools of agents in files and in Java, in threads of a worker. */
class DeferredToolsTest {
    private static InMemoryServer server;
    private static Connection connection;

    @TempDir
    Path directory;

    private final List<ModelRequest> requests = new CopyOnWriteArrayList<>();
    private final List<String> paid = new CopyOnWriteArrayList<>();

    record Amount(int usd) {}

    private final Tool pay = JavaTool.of("bank_pay", "Pays an amount", Amount.class, (amount, call) -> {
        paid.add(call.tool() + " " + amount.usd());
        return "paid " + amount.usd();
    });
    private final Tool balance = JavaTool.of("bank_balance", "Shows the balance", Amount.class, (amount, call) -> "7")
            .safeToRetry();

    @BeforeAll
    static void connect() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void disconnect() {
        connection.close();
        server.close();
    }

    /** Makes the next call when it is called, and at the end says the last result. */
    private ModelProvider model(Part... calls) {
        return request -> {
            requests.add(request);
            List<String> results = results(request);
            return Reply.of(
                    results.size() < calls.length
                            ? calls[results.size()]
                            : new Part.Text(results.get(results.size() - 1)));
        };
    }

    private static List<String> results(ModelRequest request) {
        return request.messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .map(Part.ToolResult::content)
                .toList();
    }

    private static Part call(String id, String tool, Map<String, Object> args) {
        return new Part.ToolUse(id, tool, Json.of(args));
    }

    private static Part use(String id, String tool, Map<String, Object> args) {
        Json name = Json.of(Map.of("name", tool));
        return new Part.ToolUse(id, "use_tool", name.overlaidBy(Optional.of(Json.of(Map.of("arguments", args)))));
    }

    private static String turn(String thread, String agent) {
        WorkflowStub stub = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue("deferred")
                                .setWorkflowId(thread)
                                .build());
        stub.start(StartInput.of(agent).closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Go")));
        return stub.getResult(RunOutcome.class).text();
    }

    private static List<String> activities(String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                .map(event -> event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName())
                .toList();
    }

    @Test
    void deferredTools_areFoundAndUsed_underTheirOwnNames_andTheListNeverChanges() {
        Part[] calls = {
            call("find", "find_tools", Map.of("query", "pay an amount")),
            use("use", "bank_pay", Map.of("usd", 5)),
            call("direct", "bank_pay", Map.of("usd", 6)),
            use("safe", "bank_balance", Map.of("usd", 0)),
            use("unknown", "bank_rob", Map.of()),
            use("nested", "use_tool", Map.of()),
            use("misfit", "bank_pay", Map.of("usd", "much")),
            call("other", "bank_rob", Map.of()),
        };
        Agent banker = Agent.named("banker")
                .model("fake:any")
                .use("todos")
                .deferred(pay, balance)
                .build();
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("deferred")
                .agent(banker)
                .provider("fake", model(calls))
                .build()) {
            worker.start();

            turn("banker", "banker");
        }

        List<String> results = results(requests.get(calls.length));
        assertThat(results.get(0))
                .startsWith("What matches best of 2 tools, the best one first. Call it with use_tool.\n"
                        + "{\"name\":\"bank_pay\",\"description\":\"Pays an amount\",\"arguments\":{");
        assertThat(results.subList(1, 8))
                .containsExactly(
                        "paid 5",
                        "paid 6",
                        "7",
                        "Invalid input for tool \"use_tool\": there is no tool \"bank_rob\". Look for it with find_tools,"
                                + " and use the name that its result has",
                        "Invalid input for tool \"use_tool\": call use_tool itself, not with use_tool",
                        "Invalid input for tool \"bank_pay\": /usd: string found, integer expected",
                        "Tool \"bank_rob\" not found. Available tools: write_todos, find_tools, use_tool, bank_pay,"
                                + " bank_balance");
        assertThat(paid).containsExactly("bank_pay 5", "bank_pay 6");
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.tools().stream().map(ToolSpec::name))
                        .containsExactly("write_todos", "find_tools", "use_tool"));
        assertThat(requests.get(calls.length).messages().stream().flatMap(message -> message.toolUses().stream()))
                .containsExactly(List.of(calls).toArray(Part.ToolUse[]::new));
        // Calls that are safe to retry run with the model call, under their own names too.
        assertThat(activities("banker"))
                .filteredOn(activity -> !activity.equals("model") && !activity.equals("agent"))
                .containsExactly("bank_pay", "bank_pay");
    }

    @Test
    void deferredServer_isListedWhenAThreadStarts_andOnlyNamedToTheModel() throws Exception {
        String command =
                String.join("\", \"", ToolServer.program(directory, Map.of()).command());
        Files.writeString(directory.resolve("docs.yaml"), """
                model: fake:any
                tools:
                  - mcp: { name: shop, command: ["%s"], deferred: true, trust: true }
                  - deferred: true
                    tools:
                      - { name: pay, command: [sh] }
                """.formatted(command));
        ModelProvider model = model(use("tu_1", "shop_echo", Map.of("text", "hello")));
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("deferred")
                .agents(AgentDirectory.load(directory, ModelProviders.of(Map.of("fake", model)), JavaTools.NONE))
                .provider("fake", model)
                .build()) {
            worker.start();

            assertThat(turn("docs", "docs")).contains("hello");
        }

        assertThat(requests.get(0).tools().stream().map(ToolSpec::name)).containsExactly("find_tools", "use_tool");
        assertThat(requests.get(0).tools().get(0).description()).contains("more tools, from these services: shop (");
    }

    private String problem(String tools) throws Exception {
        Files.writeString(directory.resolve("docs.yaml"), "model: fake:any\ntools:\n" + tools);
        try {
            AgentDirectory.load(directory, ModelProviders.of(Map.of("fake", model())), JavaTools.NONE);
            return "";
        } catch (AgentInvalid e) {
            return String.valueOf(e.getMessage()).replace(directory.resolve("docs.yaml") + ":", "");
        }
    }

    @Test
    void agentFile_deferredTools_areCheckedAtTheirLine() throws Exception {
        String list = "  - deferred: true\n    tools:\n      - { name: pay, command: [x] }\n";

        assertThat(problem(list)).isEmpty();
        assertThat(problem(list + "  - { name: pay, command: [x] }\n"))
                .contains("6: tools[1]: duplicate tool name: pay");
        assertThat(problem(list + "  - { name: find_tools, command: [x] }\n"))
                .contains("3: tools: deferred tools need this name; rename the tool find_tools");
        assertThat(problem("  - { name: find_tools, command: [x] }\n")).isEmpty();
        assertThat(problem("  - deferred: 5\n    tools: []\n")).contains("deferred: expected true or false");
        assertThat(problem("  - deferred: true\n    tools:\n      - mcp: { name: a, command: [x] }\n"))
                .contains("tools[0].tools[0].mcp: not allowed here; an MCP server has its own field deferred");
    }

    @Test
    void deferredTools_beyondTheLimits_areRefusedInWords() {
        List<ToolSpec> many = IntStream.rangeClosed(0, DeferredTools.MOST_TOOLS)
                .mapToObj(i -> ToolSpec.command("tool_" + i, "x").build())
                .toList();
        assertThatThrownBy(() -> DeferredTools.of(many)).hasMessage("2001 deferred tools, at most 2000");
        assertThat(DeferredTools.of(many.subList(1, many.size())).packedBytes())
                .isLessThan(DeferredTools.MOST_PACKED_BYTES);
        List<ToolSpec> large = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            byte[] random = new byte[4 * 1024];
            new Random(i).nextBytes(random);
            large.add(ToolSpec.command("tool_" + i, "x")
                    .describedAs(Base64.getEncoder().encodeToString(random), Json.of(Map.of("type", "object")))
                    .build());
        }
        assertThatThrownBy(() -> DeferredTools.of(large))
                .hasMessageMatching(
                        "the definitions of 200 deferred tools have \\d+ bytes when they are packed, at most"
                                + " 524288, and \\d+ before, at most 16777216");
        assertThatThrownBy(() ->
                        Agent.named("a").model("fake:any").deferred(pay, pay).build())
                .hasMessage("two deferred tools have the name bank_pay");
        assertThatThrownBy(() -> Agent.named("a")
                        .model("fake:any")
                        .tools(pay)
                        .deferred(pay)
                        .build())
                .hasMessage("duplicate tool name: bank_pay");
        assertThatThrownBy(() -> AgentSpec.of("a", "fake:any", pay.spec())
                        .with()
                        .deferred(DeferredTools.of(List.of(pay.spec())))
                        .build())
                .hasMessage("agent a: two tools have the name bank_pay");
        assertThatThrownBy(() -> Agent.named("a")
                        .model("fake:any")
                        .tools(ToolSpec.command("use_tool", "x").build())
                        .deferred(pay)
                        .build())
                .hasMessage("agent a: an agent with deferred tools has a built-in tool use_tool; rename its own");
        assertThatThrownBy(() -> Agent.named("a")
                        .model("fake:any")
                        .results(ResultRule.DEFAULT)
                        .deferred(ToolSpec.command("read_result", "x").build())
                        .build())
                .hasMessage("agent a: two tools have the name read_result");
    }

    @Test
    void toolThatDoesNotExist_isAnsweredWithFewNames() {
        List<ToolSpec> many = IntStream.range(0, DeferredTools.MOST_TOOLS)
                .mapToObj(i -> ToolSpec.command("tool_" + i, "x").build())
                .toList();
        AgentSpec agent =
                Agent.named("a").model("fake:any").deferred(many).build().spec();

        assertThat(ToolTexts.notFound("pay", AgentPolicies.of(agent)))
                .startsWith("Tool \"pay\" not found. Available tools: find_tools, use_tool, tool_0, ")
                .endsWith(", tool_197 and 1802 others");
    }

    @Test
    void agent_isStoredWithItsDeferredTools_andReadAgain() throws Exception {
        AgentSpec agent = Agent.named("banker")
                .model("fake:any")
                .deferred(pay, balance)
                .build()
                .spec();
        String json = PayloadJson.MAPPER.writeValueAsString(agent);

        assertThat(json).contains("\"deferred\":{\"count\":2,\"packed\":\"");
        AgentSpec read = PayloadJson.MAPPER.readValue(json, AgentSpec.class);
        assertThat(read).isEqualTo(agent);
        assertThat(read.deferred().orElseThrow().tools()).containsExactly(pay.spec(), balance.spec());
        assertThat(read.with().build()).isEqualTo(agent);
        assertThat(read.tool("bank_pay")).contains(pay.spec());
        // Missing, null, and with a field of a later version.
        String stored = json.replaceFirst("\"deferred\":\\{.*?\\}", "\"deferred\":null");
        assertThat(PayloadJson.MAPPER.readValue(stored, AgentSpec.class).deferred())
                .hasValueSatisfying(none -> assertThat(none.tools()).isEmpty());
        String missing = json.replaceFirst(",\"deferred\":\\{.*?\\}", "");
        assertThat(PayloadJson.MAPPER.readValue(missing, AgentSpec.class).deferred())
                .hasValueSatisfying(none -> assertThat(none.tools()).isEmpty());
        String extra = json.replaceFirst("\"count\":2", "\"count\":2,\"later\":{}");
        assertThat(PayloadJson.MAPPER.readValue(extra, AgentSpec.class)).isEqualTo(agent);
    }

    /** Each may have a judge of its own, which is asked only for marked tools. */
    @Test
    void changeOfEachTool_changesTheBuiltInOnesToo() {
        AgentSpec agent = Agent.named("banker")
                .model("fake:any")
                .use("todos")
                .deferred(pay, balance)
                .build()
                .spec();

        AgentSpec judged = agent.withEach(tool -> tool.with().judged().build());

        assertThat(judged.allTools()).hasSize(5).allMatch(ToolSpec::judged);
    }
}
