package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.ThreadHistory;
import dev.waymark.starter.WaymarkCommand;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.temporal.client.WorkflowOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gate with the open threads of a real server, and the export of threads. */
@Tag("server")
@Tag("full")
class GateServerTest {
    @TempDir
    Path directory;

    private DevServer temporal;
    private Connection server;

    record Said(int exitCode, String out, String err) {}

    @BeforeEach
    void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        temporal = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        server = Connection.to(temporal.address());
    }

    @AfterEach
    void stop() {
        if (temporal != null) {
            server.close();
            temporal.close();
        }
    }

    private static Said say(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = WaymarkCommand.execute(new PrintWriter(out, true), new PrintWriter(err, true), args);
        return new Said(exitCode, out.toString(), err.toString());
    }

    @Test
    void openThreads_passThisBuildAndFailAChangedOne() throws Exception {
        String thread = "gate-" + UUID.randomUUID();
        String queue = thread;
        ToolSpec[] tools = BuiltInTools.of("ask_user").toArray(ToolSpec[]::new);
        Part.ToolUse question = new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", "Which day?")));
        try (AgentWorker worker = AgentWorker.builder(server.client())
                .taskQueue(queue)
                .agents(AgentSpec.of("gated", "fake:model", tools))
                .providers(ModelProviders.of(Map.of("fake", request -> Reply.of(question))))
                .build()) {
            worker.start();
            server.client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(queue)
                                    .setWorkflowId(thread)
                                    .build())
                    .start(StartInput.of("gated").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> new HistoryReader(server.client())
                            .read(thread)
                            .filter(timeline -> timeline.now().isSettled())
                            .isPresent());
            String query = "WorkflowId = '" + thread + "'";
            Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                Said said = say("gate", "--address", server.address(), "--query", query, "--json");
                JsonNode report = PayloadJson.MAPPER.readTree(said.out()).path("gate");
                assertThat(said.exitCode()).as(said.toString()).isZero();
                assertThat(report.path("checked").asInt()).isEqualTo(1);
                assertThat(report.path("live").asBoolean()).isTrue();
            });
        }
        Path file = Files.createDirectory(directory.resolve("histories")).resolve("trip.json");
        Said exported = say("export", thread, "--address", server.address(), "--out", file.toString(), "--json");
        assertThat(exported.exitCode()).as(exported.toString()).isZero();
        ThreadHistory history = ThreadHistory.parse(Files.readString(file));
        assertThat(history.thread()).isEqualTo(thread);
        assertThat(history.runs().get(0).projection()).isPresent();
        assertThat(say("export", "no-such-thread", "--address", server.address())
                        .exitCode())
                .isEqualTo(3);

        Path build = ChangedBuild.with(
                Files.createDirectory(directory.resolve("build")),
                "rule/Decider",
                "steps.add(new Step.ResolveAgent(state.agent()));",
                "steps.add(new Step.Close(true));");
        Said stopped = say("gate", "--histories", file.getParent().toString(), "--build", build.toString(), "--json");

        assertThat(stopped.exitCode()).as(stopped.toString()).isEqualTo(1);
        assertThat(List.copyOf(PayloadJson.MAPPER
                        .readTree(stopped.out())
                        .at("/gate/findings")
                        .findValuesAsText("thread")))
                .contains("trip.json");
    }
}
