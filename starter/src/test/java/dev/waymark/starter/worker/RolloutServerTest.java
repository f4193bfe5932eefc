package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.Main;
import dev.waymark.starter.WaymarkCommand;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.RoutingConfigUpdateState;
import io.temporal.api.workflowservice.v1.DescribeWorkerDeploymentRequest;
import io.temporal.api.workflowservice.v1.SetWorkerDeploymentCurrentVersionRequest;
import io.temporal.api.workflowservice.v1.SetWorkerDeploymentRampingVersionRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two builds with different code, tools and agents: ramp, rollback and drain, automatically and pinned. */
@Tag("server")
@Tag("full")
@Timeout(300)
class RolloutServerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String QUEUE = "rollout";
    private static final String DEPLOYMENT = "agents";
    private static final String LOOK = "{ name: look, command: [cat], safe_to_retry: true }";

    /** The first two run in parallel, and not together with the model call, because the third has side effects. */
    private static final String CALLS =
            "{ tool_calls: [{ id: tu_1, name: look }, { id: tu_2, name: look }, { id: tu_3, name: pay }] }";

    @TempDir
    Path directory;

    private DevServer temporal;
    private Connection server;
    private AgentClient people;

    @BeforeEach
    void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        temporal = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        server = Connection.to(temporal.address());
        people = AgentClient.on(server, QUEUE);

        ChangedBuild.same(directory("one"));
        agent("one", "talk", "[]", "{ text: From one. }", "{ text: From one. }", "{ text: From one. }");
        agent("one", "pay", "[" + LOOK + ", { name: pay, command: [cat] }]", CALLS, "{ text: From one. }");
        agent("one", "gone", "[]", "{ text: From one. }");

        // The second build runs no calls in parallel, so it cannot replay what the first one did.
        ChangedBuild.with(directory("two"), "rule/Decider", "running < MAX_PARALLEL_CALLS", "running < 1");
        agent("two", "talk", "[]", "{ text: From two. }", "{ text: From two. }", "{ text: From two. }");
        agent(
                "two",
                "pay",
                "[" + LOOK + ", { name: pay, command: [cat], input: { type: object, required: [euros] } }]",
                CALLS,
                "{ text: From one. }",
                "{ text: From two. }",
                "{ text: From two. }");
    }

    @AfterEach
    void stop() {
        if (temporal != null) {
            people.close();
            server.close();
            temporal.close();
        }
    }

    private Path directory(String build) throws IOException {
        return Files.createDirectories(directory.resolve(build));
    }

    private void agent(String build, String name, String tools, String... replies) throws IOException {
        Path agents = Files.createDirectories(directory(build).resolve("agents"));
        Files.writeString(
                agents.resolve(name + ".yaml"), "model: scripted:" + name + ".script.yaml\ntools: " + tools + "\n");
        Files.writeString(agents.resolve(name + ".script.yaml"), "replies: [" + String.join(", ", replies) + "]\n");
    }

    private ChildProcess process(String build, String... more) throws IOException {
        Path home = directory(build);
        List<String> command = new ArrayList<>(List.of(ChildProcess.javaCommand()));
        command.addAll(ChildProcess.SHORT_LIVED);
        command.addAll(List.of("-cp", home + ":" + home.resolve("build.jar"), Main.class.getName(), "worker"));
        command.addAll(List.of("--address", server.address(), "--task-queue", QUEUE, "--json"));
        command.addAll(List.of("--agents", home.resolve("agents").toString()));
        command.addAll(List.of("--deployment", DEPLOYMENT, "--build-id", build));
        command.addAll(List.of(more));
        return ChildProcess.of(command)
                .in(directory)
                .withoutEnvironment("(WAYMARK|TEMPORAL|ANTHROPIC|OPENAI)_.*")
                .start();
    }

    private ChildProcess worker(String build, String... more) throws Exception {
        ChildProcess worker = process(build, more);
        assertThat(worker.firstLine(PATIENCE)).as(worker::err).contains("\"ready\":true");
        return worker;
    }

    private WorkflowServiceBlockingStub stub() {
        return server.stubs().blockingStub();
    }

    /** Retries, because the server learns of a version only when its first worker polls. */
    private void route(Runnable change) {
        await().atMost(PATIENCE)
                .ignoreExceptionsMatching(e -> e instanceof StatusRuntimeException status
                        && (status.getStatus().getCode() == Status.Code.NOT_FOUND
                                || status.getStatus().getCode() == Status.Code.FAILED_PRECONDITION))
                .until(() -> {
                    change.run();
                    return true;
                });
        await().atMost(PATIENCE)
                .until(() -> stub().describeWorkerDeployment(DescribeWorkerDeploymentRequest.newBuilder()
                                        .setNamespace(server.namespace())
                                        .setDeploymentName(DEPLOYMENT)
                                        .build())
                                .getWorkerDeploymentInfo()
                                .getRoutingConfigUpdateState()
                        != RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS);
    }

    private void makeCurrent(String build) {
        route(() -> stub().setWorkerDeploymentCurrentVersion(SetWorkerDeploymentCurrentVersionRequest.newBuilder()
                .setNamespace(server.namespace())
                .setDeploymentName(DEPLOYMENT)
                .setBuildId(build)
                .setIdentity("test")
                .build()));
    }

    private void ramp(String build, int percent) {
        route(() -> stub().setWorkerDeploymentRampingVersion(SetWorkerDeploymentRampingVersionRequest.newBuilder()
                .setNamespace(server.namespace())
                .setDeploymentName(DEPLOYMENT)
                .setBuildId(build)
                .setPercentage(percent)
                .setIdentity("test")
                .build()));
    }

    private String ask(String agent, String thread) {
        AgentResult result =
                people.run(Prompt.of(agent, "Hello").withThread(thread)).await();
        assertThat(result).isInstanceOf(AgentResult.Complete.class);
        return ((AgentResult.Complete) result).text();
    }

    /** What the gate reports when a build is about to be rolled out. */
    private JsonNode gate(String build) throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        WaymarkCommand.execute(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                "gate",
                "--address",
                server.address(),
                "--json",
                "--build",
                directory(build).toString(),
                "--agents",
                directory(build).resolve("agents").toString());
        assertThat(out.toString()).as(err.toString()).isNotEmpty();
        return PayloadJson.MAPPER.readTree(out.toString()).path("gate");
    }

    private static Stream<String> found(JsonNode gate) {
        return StreamSupport.stream(gate.path("findings").spliterator(), false)
                .map(finding -> finding.path("kind").asText() + " "
                        + finding.path("thread").asText());
    }

    private void awaitHeld(String... threads) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            JsonNode held = gate("two").path("held");
            assertThat(held).hasSize(threads.length == 0 ? 0 : 1);
            assertThat(held.path(0).path("buildId").asText()).isEqualTo(threads.length == 0 ? "" : "one");
            assertThat(held.path(0).path("first").toString())
                    .isEqualTo(threads.length == 0 ? "" : PayloadJson.MAPPER.writeValueAsString(threads));
        });
    }

    @Test
    void automatic_gateFindsWhatChangedAndOtherThreadsMoveBothWays() throws Exception {
        try (ChildProcess one = worker("one")) {
            makeCurrent("one");
            ask("pay", "paid");
            ask("gone", "lost");
            assertThat(ask("talk", "old")).isEqualTo("From one.");
            try (ChildProcess two = worker("two")) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(found(gate("two")))
                                .containsExactlyInAnyOrder(
                                        "nondeterminism paid", "tool-changed paid", "agent-missing lost"));
                ramp("two", 100);
                assertThat(ask("talk", "new")).isEqualTo("From two.");
                assertThat(ask("talk", "old")).isEqualTo("From two.");
                ramp("two", 0);
                assertThat(ask("talk", "new")).isEqualTo("From one.");
                makeCurrent("two");
                assertThat(one.terminate(PATIENCE)).isZero();
                assertThat(ask("talk", "old")).isEqualTo("From two.");
                assertThat(ask("talk", "new")).isEqualTo("From two.");
                awaitHeld();
                assertThat(two.terminate(PATIENCE)).isZero();
            }
        }
    }

    /** Servers before 1.31 would leave pinned threads with their build for ever, so workers refuse to start there. */
    @Test
    void pinned_threadsMoveBetweenStepsAndTheGateNamesThoseThatHaveNot() throws Exception {
        Optional<String> problem = server.serverVersion().pinningProblem();
        if (problem.isPresent()) {
            try (ChildProcess refused = process("one", "--pinned")) {
                assertThat(refused.end(PATIENCE).exitCode()).isEqualTo(2);
                assertThat(refused.err())
                        .containsPattern(
                                "waymark: threads can be pinned to builds on Temporal servers from 1\\.31 on; this one"
                                        + " is 1\\.[0-9.]+, and would never move pinned threads to another build\\. Leave"
                                        + " --pinned out, or upgrade the server\n$");
            }
            return;
        }
        try (ChildProcess one = worker("one", "--pinned")) {
            makeCurrent("one");
            assertThat(ask("pay", "paid")).isEqualTo("From one.");
            assertThat(ask("pay", "late")).isEqualTo("From one.");
            try (ChildProcess two = worker("two", "--pinned")) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(found(gate("two")))
                                .containsExactlyInAnyOrder("tool-changed paid", "tool-changed late"));
                ramp("two", 100);
                assertThat(ask("talk", "new")).isEqualTo("From two.");
                ramp("two", 0);
                assertThat(ask("talk", "new")).isEqualTo("From one.");
                makeCurrent("two");
                awaitHeld("late", "new", "paid");
                assertThat(ask("pay", "paid")).isEqualTo("From two.");
                assertThat(ask("talk", "new")).isEqualTo("From two.");
                awaitHeld("late");
                assertThat(ask("pay", "late")).isEqualTo("From two.");
                awaitHeld();
                assertThat(one.terminate(PATIENCE)).isZero();
                assertThat(ask("pay", "late")).isEqualTo("From two.");
                assertThat(two.terminate(PATIENCE)).isZero();
            }
        }
    }
}
