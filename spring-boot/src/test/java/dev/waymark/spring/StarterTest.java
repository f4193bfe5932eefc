package dev.waymark.spring;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ToolSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.tool.ToolMethod;
import dev.waymark.worker.Agent;
import dev.waymark.worker.agents.AgentDefinitions;
import dev.waymark.worker.server.DevServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** How the starter uses the beans and settings of an application. */
@Tag("full")
class StarterTest {
    private static DevServer server;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WaymarkAutoConfiguration.class,
                    WaymarkWorkerAutoConfiguration.class,
                    ActuatorHealthAutoConfiguration.class))
            .withPropertyValues("waymark.address=" + server.address());

    @BeforeAll
    static void startServer() throws IOException {
        server = DevServer.inMemory(0);
    }

    @AfterAll
    static void closeServer() {
        server.close();
    }

    record Subject(String name) {}

    /** A bean with two tools, one of which takes a second. */
    static class Desk {
        final CountDownLatch begun = new CountDownLatch(1);
        final AtomicBoolean finished = new AtomicBoolean();

        @ToolMethod(description = "Greets")
        public String greet(Subject subject) {
            return "Hello " + subject.name();
        }

        @ToolMethod(description = "Takes a moment")
        public String ponder(Subject subject) throws InterruptedException {
            begun.countDown();
            Thread.sleep(1_000);
            finished.set(true);
            return "pondered";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneAgent {
        @Bean
        Desk workspace() {
            return new Desk();
        }

        @Bean
        Agent host(Desk workspace) {
            return Agent.named("host")
                    .model("scripted-host:any")
                    .tools(workspace)
                    .build();
        }
    }

    private static ModelProvider calling(String tool) {
        return ScriptedModel.of(
                Reply.of(new Part.ToolUse("tu_1", tool, Json.of(Map.of("name", "Ann")))),
                Reply.of(new Part.Text("Done.")));
    }

    private static Prompt prompt(String agent) {
        return Prompt.of(agent, "Go on");
    }

    /** Uses a separate task queue for each test, because all tests share the server. */
    private ApplicationContextRunner on(String queue, String tool) {
        return application
                .withPropertyValues("waymark.task-queue=" + queue)
                .withBean("scripted-host", ModelProvider.class, () -> calling(tool));
    }

    @Test
    void agentBean_runsWithItsToolsAndReportsMetrics() {
        List<String> parents = Collections.synchronizedList(new ArrayList<>());
        ObservationRegistry observations = ObservationRegistry.create();
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
        observations.observationConfig().observationHandler(new ObservationHandler<ReceiverContext<Object>>() {
            @Override
            public void onStart(ReceiverContext<Object> context) {
                parents.add(context.getGetter().get(context.getCarrier(), "traceparent"));
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return context instanceof ReceiverContext<?>;
            }
        });
        on("beans", "greet")
                .withUserConfiguration(OneAgent.class)
                .withBean(MeterRegistry.class, () -> meters)
                .withBean(ObservationRegistry.class, () -> observations)
                .run(context -> {
                    AgentClient client = context.getBean(AgentClient.class);

                    assertThat(assertComplete(client.run(prompt("host")).await())
                                    .text())
                            .isEqualTo("Done.");
                    assertThat(meters.find("waymark.turns")
                                    .tag("outcome", "complete")
                                    .counter())
                            .satisfies(turns -> assertThat(turns.count()).isEqualTo(1));
                    assertThat(meters.find("waymark.tool").tag("tool", "greet").timer())
                            .satisfies(runs -> assertThat(runs.count()).isEqualTo(1));
                    assertThat(meters.getMeters())
                            .anyMatch(meter -> meter.getId().getName().startsWith("temporal_"));
                    assertThat(parents).singleElement().asString().matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01");
                });
    }

    @Test
    void agentFiles_useTheToolsOfTheBeans(@TempDir Path agents) throws IOException {
        Files.writeString(agents.resolve("filed.yaml"), """
                model: scripted-host:any
                tools:
                  - use: greet
                """);
        on("files", "greet")
                .withPropertyValues("waymark.agents=" + agents)
                .withBean(Desk.class)
                .run(context -> assertThat(assertComplete(context.getBean(AgentClient.class)
                                        .run(prompt("filed"))
                                        .await())
                                .text())
                        .isEqualTo("Done."));
    }

    @Test
    void journal_isOpenedInTheDirectoryOfTheSettings(@TempDir Path directory) {
        Path journal = directory.resolve("journal");
        on("journal", "greet")
                .withPropertyValues("waymark.worker.journal=" + journal)
                .withUserConfiguration(OneAgent.class)
                .run(context -> assertThat(journal.resolve("0.lock")).exists());
    }

    @Test
    void agentFiles_canNameAgentBeansAsSubagents(@TempDir Path agents) throws IOException {
        Files.writeString(agents.resolve("filed.yaml"), "model: scripted-host:any\nsubagents: [host]\n");
        on("subagents", "greet")
                .withPropertyValues("waymark.agents=" + agents)
                .withUserConfiguration(OneAgent.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void toolOfAProxiedClass_isCalledThroughTheProxy(@TempDir Path agents) throws IOException {
        Files.writeString(agents.resolve("filed.yaml"), "model: scripted-host:any\ntools:\n  - use: greet\n");
        List<String> advised = Collections.synchronizedList(new ArrayList<>());
        on("proxies", "greet")
                .withPropertyValues("waymark.agents=" + agents)
                .withBean(Desk.class, () -> proxied(advised))
                .run(context -> {
                    assertComplete(context.getBean(AgentClient.class)
                            .run(prompt("filed"))
                            .await());
                    assertThat(advised).containsExactly("greet");
                });
    }

    private static Desk proxied(List<String> advised) {
        ProxyFactory factory = new ProxyFactory(new Desk());
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodInterceptor) call -> {
            advised.add(call.getMethod().getName());
            return call.proceed();
        });
        return (Desk) factory.getProxy();
    }

    interface Greeter {
        String greet(Subject subject);
    }

    static final class InterfacedDesk implements Greeter {
        @Override
        @ToolMethod(description = "Greets")
        public String greet(Subject subject) {
            return subject.name();
        }
    }

    @Test
    void toolBehindAnInterfaceProxy_isRefusedWithExplanation() {
        on("interfaces", "greet")
                .withUserConfiguration(OneAgent.class)
                .withBean("greeter", Greeter.class, () -> (Greeter) new ProxyFactory(new InterfacedDesk()).getProxy())
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .isEqualTo("Waymark: the tools of the bean greeter can't be called, because its proxy has only"
                                + " the methods of its interfaces | Let Spring proxy its class:"
                                + " spring.aop.proxy-target-class=true, or proxyTargetClass = true."));
    }

    @Test
    void applicationWithoutAgents_runsNoWorker() {
        application.run(context -> {
            assertThat(context).hasSingleBean(AgentClient.class).hasSingleBean(WorkflowClient.class);
            assertThat(context.getBean(WorkerLifecycle.class).running()).isEmpty();
            assertThat(context.getBean(HealthIndicator.class).health().getDetails())
                    .containsEntry("worker", "none");
        });
    }

    @Test
    void agentBeans_canBeWrittenForTheGate(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("agents.json");
        boolean[] active = {true};
        on("written", "greet")
                .withUserConfiguration(OneAgent.class)
                .withPropertyValues("waymark.write-agents=" + file)
                .run(context -> {
                    assertThat(context.getBean(WorkerLifecycle.class).running()).isEmpty();
                    assertThat(context.getBean(AgentsEndpoint.class).read()).containsOnlyKeys("agents");
                    context.getBean(AgentsFile.class).run(new DefaultApplicationArguments());
                    active[0] = context.isActive();
                });

        assertThat(active[0]).isFalse();
        assertThat(AgentDefinitions.read(file).agents())
                .containsOnlyKeys("host")
                .allSatisfy((name, agent) -> assertThat(agent.tools())
                        .extracting(ToolSpec::name)
                        .containsExactlyInAnyOrder("greet", "ponder"));
    }

    @Test
    void agentBeansWithSkills_areWrittenWithThem(@TempDir Path directory) throws IOException {
        Path skill = Files.createDirectories(directory.resolve("memo"));
        Files.writeString(skill.resolve("SKILL.md"), "---\nname: memo\ndescription: Writes memos\n---\n");
        on("skilled", "greet")
                .withBean(
                        "writer",
                        Agent.class,
                        () -> Agent.named("writer")
                                .model("scripted-host:any")
                                .skills(directory)
                                .build())
                .withPropertyValues("waymark.write-agents=" + directory.resolve("agents.json"))
                .run(context -> assertThat(
                                context.getBean(AgentsEndpoint.class).read().toString())
                        .contains("- memo: Writes memos"));
    }

    @Test
    void threadStartedByARequest_belongsToItsTrace() {
        SimpleTracer tracer = new SimpleTracer();
        on("traces", "greet")
                .withUserConfiguration(OneAgent.class)
                .withConfiguration(AutoConfigurations.of(WaymarkTracingAutoConfiguration.class))
                .withBean(Tracer.class, () -> tracer)
                .run(context -> {
                    AgentClient client = context.getBean(AgentClient.class);
                    Span request = tracer.nextSpan();
                    request.start();
                    String thread;
                    try (Tracer.SpanInScope scope = tracer.withSpan(request)) {
                        thread = client.run(prompt("host")).await().thread();
                    }
                    assertThat(client.inspector().tracer(false).spans(thread))
                            .isNotEmpty()
                            .allSatisfy(span -> assertThat(span.traceId())
                                    .isEqualTo(
                                            "0".repeat(16) + request.context().traceId()));
                });
    }

    @Test
    void worker_canBeSwitchedOff() {
        on("off", "greet")
                .withUserConfiguration(OneAgent.class)
                .withPropertyValues("waymark.worker.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(AgentClient.class)
                        .doesNotHaveBean(WorkerLifecycle.class));
    }

    @Test
    void starter_canBeSwitchedOff() {
        application
                .withPropertyValues("waymark.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Connection.class));
    }

    @Test
    void stoppingApplication_waitsForRunningCalls() {
        Desk[] workspace = new Desk[1];
        on("drain", "ponder").withUserConfiguration(OneAgent.class).run(context -> {
            workspace[0] = context.getBean(Desk.class);
            context.getBean(AgentClient.class).start(prompt("host"));
            workspace[0].begun.await();
        });

        assertThat(workspace[0].finished).isTrue();
    }

    @Test
    void health_reportsTheWorker() {
        on("health", "greet").withUserConfiguration(OneAgent.class).run(context -> {
            HealthIndicator health = context.getBean(HealthIndicator.class);
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
            assertThat(health.health().getDetails())
                    .containsExactlyInAnyOrderEntriesOf(
                            Map.of("server", server.address(), "namespace", "default", "worker", "health"));
        });
    }

    @Test
    void health_withoutTheActuator_isMissing() {
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(Connection.class));
    }

    @Test
    void applicationStubs_areSharedAndStayOpen() {
        WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(WorkflowServiceStubsOptions.newBuilder()
                .setTarget(server.address())
                .build());
        try {
            WorkflowClient own = WorkflowClient.newInstance(
                    stubs,
                    WorkflowClientOptions.newBuilder().setNamespace("default").build());
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(WaymarkAutoConfiguration.class, WaymarkWorkerAutoConfiguration.class))
                    .withPropertyValues("waymark.task-queue=shared")
                    .withBean("scripted-host", ModelProvider.class, () -> calling("greet"))
                    .withUserConfiguration(OneAgent.class)
                    .withBean("stubs", WorkflowServiceStubs.class, () -> stubs, bean -> bean.setDestroyMethodName(""))
                    .withBean(WorkflowClient.class, () -> own)
                    .run(context -> {
                        assertThat(context.getBean(Connection.class).stubs()).isSameAs(stubs);
                        assertThat(context.getBean(WorkflowClient.class)).isSameAs(own);
                        assertComplete(context.getBean(AgentClient.class)
                                .run(prompt("host"))
                                .await());
                    });
            assertThat(stubs.isShutdown()).isFalse();
        } finally {
            stubs.shutdownNow();
        }
    }

    @Test
    void unreachableServer_isOneClearLine() {
        application
                .withPropertyValues("waymark.address=127.0.0.1:1")
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .isEqualTo(
                                "Waymark: no Temporal server answers: 127.0.0.1:1 (UNAVAILABLE) | Start a server, for"
                                        + " example with: temporal server start-dev. Or set waymark.address."));
    }

    @Test
    void invalidSettings_areOneClearLine(@TempDir Path agents) throws IOException {
        Files.writeString(agents.resolve("broken.yaml"), "model: anthropic:any\ncolor: red\n");

        assertThat(failure(with -> with.withPropertyValues("waymark.codec-keys=abc")))
                .startsWith("Waymark: key 1 in WAYMARK_CODEC_KEYS has no id");
        assertThat(failure(with -> with.withPropertyValues("waymark.agents=/no/such/directory")))
                .startsWith("Waymark: there is no such directory: /no/such/directory | Create it");
        assertThat(failure(with -> with.withPropertyValues("waymark.agents=" + agents)))
                .startsWith("Waymark: " + agents.resolve("broken.yaml") + ":2: color:");
        assertThat(failure(with -> with.withUserConfiguration(OneAgent.class)))
                .startsWith("Waymark: agent host: expected PROVIDER:MODEL with one of the providers anthropic, openai,"
                        + " openai-responses, openai-chat, scripted, found scripted-host:any");
        assertThat(failure(with -> on("build", "greet")
                        .withUserConfiguration(OneAgent.class)
                        .withPropertyValues("waymark.worker.build-id=7")))
                .startsWith("Waymark: waymark.worker.deployment and waymark.worker.build-id belong together");
        assertThat(failure(with -> on("build", "greet")
                        .withUserConfiguration(OneAgent.class)
                        .withPropertyValues("waymark.worker.pinned=true")))
                .startsWith("Waymark: threads are pinned to builds of a deployment, and the worker has none");
    }

    private String failure(UnaryOperator<ApplicationContextRunner> change) {
        String[] words = {""};
        change.apply(application).run(context -> words[0] = analysis(context.getStartupFailure()));
        return words[0];
    }

    private static String analysis(Throwable failure) {
        FailureAnalysis analysis = new WaymarkFailureAnalyzer().analyze(failure);
        return Optional.ofNullable(analysis)
                .map(found -> found.getDescription() + " | " + found.getAction())
                .orElseGet(() -> "no analysis: " + failure);
    }
}
