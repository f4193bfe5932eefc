package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.Timeline;
import dev.waymark.starter.Main;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Decisions of a thread with secrets, kept in a dataset and rehearsed without a server. */
@Tag("full")
class DatasetCommandTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final String KEY = "sk-canary-4711";
    /** The value of a variable that is not named like a secret. Only a later turn names it. */
    private static final String PLACE = "canary.example.org";

    private static final Map<String, String> SECRETS = Map.of("ORDERS_KEY", KEY, "ORDERS_PLACE", PLACE);

    private static InMemoryServer server;
    private static Connection connection;

    @TempDir
    Path directory;

    record Token(String token) {}

    @BeforeAll
    static void record() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
        JavaTool<?> send = JavaTool.of(
                "send", "Sends", Token.class, (args, context) -> "sent to " + PLACE + " with " + args.token());
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue("q")
                .agents(AgentSpec.of("a", "fake:model", send.spec()))
                .tools(JavaTools.of(send))
                .providers(ModelProviders.of(Map.of(
                        "fake",
                        ScriptedModel.of(
                                Reply.of(new Part.ToolUse("tu_1", "send", Json.of(Map.of("token", KEY)))),
                                Reply.of(new Part.Text("It went to " + PLACE + ".")),
                                Reply.of(new Part.Text("The place is ${ORDERS_PLACE}."))))))
                .build()) {
            worker.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue("q")
                                    .setWorkflowId("trip/1")
                                    .build());
            thread.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Send " + KEY)));
            awaitTurn(1);
            thread.update(SignalNames.SAY, Object.class, Map.of("id", "m-2", "content", "Where to?"));
            awaitTurn(2);
        }
    }

    private static void awaitTurn(int number) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> timeline().now().turn().number() == number
                        && !timeline().now().turn().isRunning());
    }

    private static Timeline timeline() {
        return new HistoryReader(connection.client()).read("trip/1").orElseThrow();
    }

    @AfterAll
    static void stop() {
        connection.close();
        server.close();
    }

    @BeforeEach
    void agents() throws IOException {
        Path agents = Files.createDirectory(directory.resolve("agents"));
        Files.writeString(agents.resolve("a.yaml"), "model: scripted:a.script.yaml");
        script("It went out.");
    }

    private void script(String text) throws IOException {
        Files.writeString(directory.resolve("agents/a.script.yaml"), "replies: [{ text: \"" + text + "\" }]");
    }

    private ChildProcess.Ended run(Map<String, String> environment, String... arguments) throws Exception {
        return ChildProcess.java(ChildProcess.SHORT_LIVED, Main.class, arguments)
                .in(directory)
                .environment(environment)
                .run(LONG);
    }

    private ChildProcess.Ended add(String place, String... more) throws Exception {
        Map<String, String> environment = new LinkedHashMap<>(SECRETS);
        environment.put("TEMPORAL_ADDRESS", server.address());
        List<String> arguments = new ArrayList<>(List.of("dataset", "add", place, "--name", "refunds"));
        arguments.addAll(List.of(more));
        return run(environment, arguments.toArray(String[]::new));
    }

    /** In CI: without a server, and without the secrets. */
    private ChildProcess.Ended rehearse(String... more) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("rehearse", "--dataset", "refunds", "--allow-provider", "scripted", "--json"));
        arguments.addAll(List.of(more));
        return run(Map.of("TEMPORAL_ADDRESS", "127.0.0.1:1"), arguments.toArray(String[]::new));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("datasets/refunds"))) {
            return files.sorted().toList();
        }
    }

    @Test
    void decision_keepsNoSecret_andNothingThatCameLater() throws Exception {
        String event = timeline().decisions().get(1).called().address();

        ChildProcess.Ended added = add("trip/1@" + event, "--expect", "never_called: send");

        assertThat(added.exitCode()).as(added.err()).isZero();
        assertThat(added.err()).contains("Values of secrets are masked, the rest of the conversation is not.");
        assertThat(files()).hasSize(2).allSatisfy(file -> {
            assertThat(file.getFileName().toString()).startsWith("trip-1@").doesNotContain("canary");
            assertThat(Files.readString(file)).doesNotContain("canary", "identity");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        });
        ThreadHistory kept = ThreadHistory.parse(Files.readString(files().get(1)));
        assertThat(kept.payloadTexts()).noneMatch(text -> text.contains("canary") || text.contains("Where to?"));
        assertThat(kept.payloadTexts()).anyMatch(text -> text.contains("sent to ${ORDERS_PLACE} with ${ORDERS_KEY}"));
        assertThat(kept.timeline().decisions()).hasSize(2);
        assertThat(Files.readString(files().get(0)))
                .startsWith("# Thread trip/1 up to the decision at ")
                .endsWith("checks:\n  - never_called: send\n");
    }

    @Test
    void dataset_isRehearsedWithoutAServer_oneDecisionOfEachFile() throws Exception {
        add("trip/1@" + timeline().decisions().get(1).called().address(), "--expect", "text_matches: went");
        add("trip/1@" + timeline().decisions().get(0).called().address(), "--expect", "{ called: send, at_most: 1 }");

        ChildProcess.Ended held = rehearse();

        assertThat(held.exitCode()).as(held.out() + held.err()).isZero();
        JsonNode report = PayloadJson.MAPPER.readTree(held.out());
        assertThat(report.at("/rehearsal/decisions").asInt()).isEqualTo(2);
        assertThat(report.at("/rehearsal/candidates/0/checks").asInt()).isEqualTo(2);
        script("No.");
        assertThat(rehearse().exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(run(Map.of(), "dataset", "list").out())
                .matches(
                        "(?s)DATASET.*\nrefunds +trip-1@\\S+ +called: send, at_most: 1\nrefunds +trip-1@\\S+ +text_matches: went\n");
    }

    @Test
    void withoutAnExpectation_theDecisionIsExpectedAsRecorded() throws Exception {
        ChildProcess.Ended added = add("trip/1@" + timeline().versions().get(0).number());
        assertThat(added.exitCode()).as(added.err()).isZero();

        ChildProcess.Ended other = rehearse();

        assertThat(other.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(PayloadJson.MAPPER
                        .readTree(other.out())
                        .at("/rehearsal/candidates/0/shownChecks/0/check")
                        .asText())
                .isEqualTo("as_recorded");
    }

    @Test
    void whatCannotBeAddedOrRehearsed_isRefused() throws Exception {
        String place = "trip/1@" + timeline().decisions().get(0).called().address();
        assertThat(add(place, "--expect", "text_matches: " + KEY).err()).contains("contains the value of a secret");
        assertThat(add(place, "--expect", "caled: x").err()).contains("--expect is not a check: ", "expected one of");
        assertThat(add("trip/1@99").err()).contains("no decision at this place or before it: trip/1@99");
        assertThat(add("trip/1").err()).contains("not a thread with a version: trip/1");
        assertThat(directory.resolve("datasets/refunds")).doesNotExist();
        assertThat(run(Map.of(), "dataset", "list", "--name", "..").err()).contains("not a name for a dataset: ..");
        assertThat(rehearse().err()).contains("no such dataset: datasets/refunds");

        assertThat(add(place).exitCode()).isZero();
        assertThat(add(place).err()).contains("the dataset has this decision: ");
        Files.move(directory.resolve("agents/a.yaml"), directory.resolve("agents/b.yaml"));
        assertThat(rehearse().exitCode()).as("an expectation that is not tried").isEqualTo(ExitCode.FAILED);
        Files.delete(files().get(1));
        assertThat(rehearse().err()).contains("the decision is missing: there is no trip-1@");
    }
}
