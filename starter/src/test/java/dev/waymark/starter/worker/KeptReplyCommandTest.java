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
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadHistory;
import dev.waymark.starter.Main;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies of a thread with secrets, kept in files and rehearsed without a server. */
@Tag("full")
class KeptReplyCommandTest {
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
                .atMost(Duration.ofMinutes(1))
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

    private ChildProcess.Ended export(String place, String file) throws Exception {
        Map<String, String> environment = new LinkedHashMap<>(SECRETS);
        environment.put("TEMPORAL_ADDRESS", server.address());
        return run(environment, "export", "trip/1", "--at", place, "--out", "kept/" + file + ".json");
    }

    private void expect(String file, String check) throws IOException {
        Files.writeString(directory.resolve("kept/" + file + ".checks.yaml"), "checks: [{ " + check + " }]");
    }

    /** In CI: without a server, and without the secrets. */
    private ChildProcess.Ended rehearse() throws Exception {
        return run(
                Map.of("TEMPORAL_ADDRESS", "127.0.0.1:1"),
                "rehearse",
                "--histories",
                "kept",
                "--allow-provider",
                "scripted",
                "--json");
    }

    private static String place(int number) {
        return RecordedReply.in(timeline()).get(number).called().address();
    }

    @Test
    void keptReply_hasNoSecretsAndNoLaterEvents() throws Exception {
        ChildProcess.Ended exported = export(place(1), "sent");

        assertThat(exported.exitCode()).as(exported.err()).isZero();
        Path file = directory.resolve("kept/sent.json");
        assertThat(Files.readString(file)).doesNotContain("canary", "identity");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        ThreadHistory kept = ThreadHistory.parse(Files.readString(file));
        assertThat(kept.payloadTexts()).noneMatch(text -> text.contains("canary") || text.contains("Where to?"));
        assertThat(kept.payloadTexts()).anyMatch(text -> text.contains("sent to ${ORDERS_PLACE} with ${ORDERS_KEY}"));
        assertThat(RecordedReply.in(kept.timeline())).hasSize(2);
    }

    @Test
    void threadsWithChecks_areRehearsedAtTheirLastDecisionWithoutServer() throws Exception {
        export(place(1), "said");
        expect("said", "text_matches: went");
        export(place(0), "sent");
        expect("sent", "called: send, at_most: 1");

        ChildProcess.Ended held = rehearse();

        assertThat(held.exitCode()).as(held.out() + held.err()).isZero();
        JsonNode report = PayloadJson.MAPPER.readTree(held.out());
        assertThat(report.at("/rehearsal/replies").asInt()).isEqualTo(2);
        assertThat(report.at("/rehearsal/candidates/0/checks").asInt()).isEqualTo(2);
        script("No.");
        assertThat(rehearse().exitCode()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void checkThatCannotRun_isReported() throws Exception {
        assertThat(export("99", "none").err()).contains("the thread has no reply at this place or before it: 99");
        export(timeline().versions().get(0).number() + "", "sent");
        expect("sent", "as_recorded: true");

        assertThat(PayloadJson.MAPPER
                        .readTree(rehearse().out())
                        .at("/rehearsal/candidates/0/shownChecks/0/check")
                        .asText())
                .isEqualTo("as_recorded");
        Files.move(directory.resolve("agents/a.yaml"), directory.resolve("agents/b.yaml"));
        assertThat(rehearse().exitCode()).isEqualTo(ExitCode.FAILED);
        Files.delete(directory.resolve("kept/sent.json"));
        assertThat(rehearse().err()).contains("the thread is missing: there is no sent.json");
    }
}
