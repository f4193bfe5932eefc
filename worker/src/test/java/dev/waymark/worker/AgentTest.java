package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolMethod;
import dev.waymark.tool.ToolMethods;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptor;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentTest {
    private static InMemoryServer server;
    private static Connection connection;

    record City(String name) {}

    static final class Weather {
        @ToolMethod(description = "The weather in a city", safeToRetry = true)
        String weather(City city) {
            return "Rain in " + city.name();
        }
    }

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

    @Test
    void tools_collection_addsEachOfThem() {
        Agent agent = Agent.named("guide")
                .model("scripted:any")
                .tools(List.of(new Weather(), BuiltInTools.of("ask_user").get(0)))
                .build();

        assertThat(agent.spec().tools()).extracting(ToolSpec::name).containsExactly("weather", "ask_user");
    }

    @Test
    void build_invalidSetting_namesTheRule() {
        assertThatThrownBy(() -> Agent.named("a b").model("scripted:any").build())
                .hasMessage("agent a b: a name has 1 to 64 characters A-Z a-z 0-9 _ -, found \"a b\"");
        Agent.Builder guide = Agent.named("guide").model("scripted:any");
        assertThatThrownBy(() -> guide.maxTokens(-1).build())
                .hasMessage("agent guide: maxTokens must be at least 1, found -1");
        assertThatThrownBy(() -> guide.maxTokens(1).maxIterations(0).build())
                .hasMessage("agent guide: maxIterations must be at least 1, found 0");
        assertThatThrownBy(() -> guide.maxIterations(1).description(" ").build())
                .hasMessage("agent guide: the description is empty. Say what the agent does, or leave it out");
        assertThatThrownBy(() -> guide.description("Guides")
                        .tools(JavaTool.of("ask_user", "Asks", City.class, (city, call) -> ""))
                        .build())
                .hasMessage("this name is reserved: ask_user");
    }

    @Test
    void builder_allSettings_equalThoseOfAnAgentFile() {
        Weather weather = new Weather();
        ToolSpec program = ToolSpec.command("print", "./print.sh").build();
        Agent agent = Agent.named("guide")
                .model("scripted:any")
                .description("Guides")
                .instructions("Be brief.")
                .options(ModelOptions.NONE.withEffort("high"))
                .fallback("openai:m-2", "openai:m-3")
                .silence(Duration.ofSeconds(90))
                .maxTokens(100)
                .maxIterations(3)
                .tools(weather, program)
                .use("ask_user")
                .approvalTimeout(Duration.ofHours(1))
                .pricing(Pricing.FREE)
                .budget(new Budget(Optional.of(Usd.of(BigDecimal.ONE)), Optional.empty()))
                .context(Json.of(Map.of("tenant", "acme")))
                .build();

        Tool tool = ToolMethods.of(weather).get(0);
        AgentSpec expected = new AgentSpec.Builder("guide", "scripted:any")
                .description("Guides")
                .instructions("Be brief.")
                .options(ModelOptions.NONE.withEffort("high"))
                .fallback(List.of(FallbackModel.of("openai:m-2"), FallbackModel.of("openai:m-3")))
                .silence(Duration.ofSeconds(90))
                .maxTokens(100)
                .maxIterations(3)
                .tools(List.of(tool.spec(), program, BuiltInTools.askUser()))
                .approvals(new AgentSpec.Approvals(false, Optional.of(Duration.ofHours(1))))
                .pricing(Pricing.FREE)
                .budget(new Budget(Optional.of(Usd.of(BigDecimal.ONE)), Optional.empty()))
                .context(Json.of(Map.of("tenant", "acme")))
                .build();
        assertThat(agent).isEqualTo(new Agent(expected, List.of(tool)));
    }

    @Test
    void build_withResults_hasTheToolThatReadsThem_andNoOtherOfItsName() {
        AgentSpec agent = Agent.named("guide")
                .model("scripted:any")
                .results(ResultRule.DEFAULT)
                .use("ask_user")
                .build()
                .spec();

        assertThat(agent.tools()).containsExactly(BuiltInTools.askUser(), BuiltInTools.readResult());
        assertThat(agent.with().maxTokens(7).build().tools()).isEqualTo(agent.tools());
        assertThat(AgentPolicies.of(agent).results()).contains(new ResultRule(16 * 1024));
        Agent.Builder own = Agent.named("guide")
                .model("scripted:any")
                .tools(ToolSpec.command("read_result", "./read.sh").build());
        assertThat(own.build().spec().tools()).hasSize(1);
        assertThatThrownBy(() -> own.results(ResultRule.DEFAULT).build())
                .hasMessage("agent guide: an agent with results has a built-in tool read_result; rename its own");
    }

    @Test
    void build_settingThatAgentFilesRefuse_isRefused() {
        assertThatThrownBy(() -> Agent.named("guide").build()).hasMessageContaining("agent guide has no model");
        assertThatThrownBy(() -> Agent.named("guide")
                        .model("scripted:any")
                        .tools(new Weather(), new Weather())
                        .build())
                .hasMessage("agent guide has two tools with the name weather");
        assertRefused(
                Agent.named("guide").model("other:any"),
                "one of the providers anthropic, openai, openai-responses, openai-chat, found other:any");
        assertRefused(
                Agent.named("guide")
                        .model("openai:unheard-of")
                        .budget(new Budget(Optional.of(Usd.of(BigDecimal.ONE)), Optional.empty())),
                "no price is known");
        assertRefused(
                Agent.named("guide").model("openai:any").fallback("openai:any"), "it has the model openai:any twice");
        assertRefused(
                Agent.named("guide").model("openai:any").fallback("openai-chat:other", "openai-responses:any"),
                "it has the model openai-responses:any twice");
        assertRefused(Agent.named("guide").model("openai:any").fallback("other:any"), "found other:any");
        assertRefused(
                Agent.named("guide").model("openai:any").options(ModelOptions.NONE.withThinkingBudget(2_000)),
                "agent guide: options.thinking_budget: unknown option. openai knows effort, temperature, thinking_display, service_tier");
        assertRefused(
                Agent.named("guide").model("openai:any").silence(Duration.ofMillis(10)),
                "agent guide: silence must be PT1S to PT9M, found PT0.01S");
        assertRefused(
                Agent.named("guide").model("openai:any").retryFor(Duration.ofHours(25)),
                "agent guide: retryFor must be PT0S to PT24H, found PT25H");
        assertRefused(
                Agent.named("guide")
                        .model("openai:any")
                        .fallback(FallbackModel.of("openai:other").withSilence(Duration.ofMinutes(10))),
                "agent guide: silence must be PT1S to PT9M, found PT10M");
        assertRefused(Agent.named("guide").model("anthropic:any").tools(ToolSpec.subagent("other", "")), "other");
    }

    @Test
    void build_settingThatNoAgentCanHave_isRefusedBeforeThereIsAWorker() {
        Agent.Builder guide = Agent.named("guide").model("openai:any");
        assertThatThrownBy(() -> guide.fuse(Duration.ofMinutes(2)).build())
                .hasMessage("agent guide: fuse must be PT0S to PT1M, found PT2M");
        assertThatThrownBy(() -> guide.fuse(Duration.ZERO)
                        .fallback("a:1", "a:2", "a:3", "a:4", "a:5")
                        .build())
                .hasMessage("agent guide: it has 5 fallbacks, at most 4");
        assertThatThrownBy(() -> guide.fallback(List.of())
                        .announce(AnnounceRule.to("ops"), AnnounceRule.to("ops"))
                        .build())
                .hasMessage("agent guide: expected at most 10 receivers, each once");
        assertThatThrownBy(() -> ToolSpec.java("pay").verifyForbids().build())
                .hasMessage("tool pay: verifyForbids is not allowed without verify");
    }

    private static void assertRefused(Agent.Builder agent, String words) {
        assertThatThrownBy(() -> AgentWorker.on(connection).agent(agent.build()).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(words);
    }

    @Test
    void worker_agentInJavaBesideFiles_runsUnderInterceptorsAndOptions(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("quiet.yaml"), "model: anthropic:any\n");
        AtomicInteger intercepted = new AtomicInteger();
        Weather weather = new Weather();
        Agent.Builder guide = Agent.named("guide").model("scripted:any").tools(weather);
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("java")
                .agents(AgentDirectory.load(directory, ModelProviders.fromEnvironment(), JavaTools.NONE))
                .agent(guide.build())
                .agent(Agent.named("other").model("scripted:any").tools(weather).build())
                .provider(
                        "scripted",
                        ScriptedModel.of(
                                Reply.of(new Part.ToolUse("tu_1", "weather", Json.of(Map.of("name", "Oslo")))),
                                Reply.of(new Part.Text("Take one."))))
                .interceptors(new WorkerInterceptorBase() {
                    @Override
                    public ActivityInboundCallsInterceptor interceptActivity(ActivityInboundCallsInterceptor next) {
                        return new ActivityInboundCallsInterceptorBase(next) {
                            @Override
                            public ActivityOutput execute(ActivityInput input) {
                                intercepted.incrementAndGet();
                                return super.execute(input);
                            }
                        };
                    }
                })
                .workerOptions(options -> options.setMaxConcurrentActivityExecutionSize(10))
                .build()) {
            worker.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue("java")
                                    .setWorkflowId("umbrella")
                                    .build());
            thread.start(StartInput.of("guide")
                    .closingAfterOneTurn()
                    .saying(PersonFact.UserSpoke.message("m-1", "Umbrella?")));
            RunOutcome outcome = thread.getResult(30, TimeUnit.SECONDS, RunOutcome.class);
            assertThat(outcome.toString()).contains("Take one.");
        }
        assertThat(intercepted).hasValue(3); // The agent activity, and two model calls; the first one runs the tool.
    }

    private static String turn(String queue, String agent) {
        WorkflowStub thread = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(queue)
                                .setWorkflowId(queue + "-" + agent)
                                .build());
        thread.start(StartInput.of(agent).closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Go")));
        return thread.getResult(RunOutcome.class).text();
    }

    record Parcel(int grams) {}

    record Room(int nights) {}

    /** One tool has a side effect and is claimed, and the other runs with the model's reply. */
    @Test
    void worker_agentsWithToolsOfTheSameName_runTheirOwn() {
        JavaTool<Parcel> parcels = JavaTool.of(
                "price", "Charges for a parcel", Parcel.class, (parcel, call) -> "parcel " + parcel.grams());
        JavaTool<Room> rooms = JavaTool.of(
                        "price", "The price of a room", Room.class, (room, call) -> "room " + room.nights())
                .safeToRetry();
        try (AgentWorker worker = AgentWorker.on(connection)
                .taskQueue("prices")
                .agent(Agent.named("post").model("post:any").tools(parcels).build())
                .agent(Agent.named("hotel").model("hotel:any").tools(rooms).build())
                .provider("post", calling(Json.of(Map.of("grams", 5))))
                .provider("hotel", calling(Json.of(Map.of("nights", 2))))
                .build()) {
            worker.start();

            assertThat(turn("prices", "post")).isEqualTo("parcel 5");
            assertThat(turn("prices", "hotel")).isEqualTo("room 2");
        }
    }

    private static ModelProvider calling(Json arguments) {
        return request -> {
            List<Part.ToolResult> results =
                    request.messages().get(request.messages().size() - 1).toolResults();
            return results.isEmpty()
                    ? Reply.of(new Part.ToolUse("tu_1", "price", arguments))
                    : Reply.of(new Part.Text(results.get(0).content()));
        };
    }

    @Test
    void moneyAsText_equalsValues() {
        AgentSpec spec = Agent.named("clerk")
                .model("scripted:any")
                .budgetUsd("2.50")
                .budgetTokens(1_000)
                .pricing("0.80", "4")
                .build()
                .spec();

        assertThat(spec.budget()).contains(new Budget(Optional.of(Usd.of(new BigDecimal("2.5"))), Optional.of(1_000L)));
        assertThat(spec.pricing()).contains(Pricing.of("0.8", "4"));
    }
}
