package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.Connection;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.ThreadHistory;
import dev.waymark.model.ModelFailure;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.rehearsal.gate.ServerThreads;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.payload.codec.PayloadCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("full")
@Timeout(180)
class EncryptedRehearsalTest {
    private static final String CANARY = "canary";

    @TempDir
    Path directory;

    private InMemoryServer server;
    private Connection plain;
    private Connection connection;
    private Map<String, String> variables;

    private static ModelProviders saying(String text) {
        return ModelProviders.of(Map.of("fake", new FreeModel(request -> Reply.of(new Part.Text(text)))));
    }

    @BeforeEach
    void start() throws Exception {
        variables = Map.of(
                EncryptionKeys.VARIABLE,
                "k:" + Base64.getEncoder().encodeToString(new byte[32]),
                ThreadKeys.VARIABLE,
                "file:" + Files.createDirectory(directory.resolve("thread-keys")));
        server = InMemoryServer.start(0);
        plain = Connection.to(server.address());
        connection = Connection.over(plain.stubs(), "default", variables);
        record("secret", saying("recorded " + CANARY));
    }

    private void record(String id, ModelProviders providers) throws Exception {
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue("q")
                .agents(AgentDirectory.of(directory, List.of(AgentSpec.of("a", "fake:model"))))
                .providers(providers)
                .build()) {
            worker.start();
            keys().begin("default", id, Optional.empty());
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue("q")
                                    .setWorkflowId(id)
                                    .build());
            thread.start(StartInput.of("a")
                    .closingAfterOneTurn()
                    .saying(PersonFact.UserSpoke.message("m-1", "question of " + id + " " + CANARY)));
            thread.getResult(RunOutcome.class);
        }
    }

    private ThreadKeys keys() {
        return EncryptedDataConverter.threadKeys(connection.client()).orElseThrow();
    }

    @AfterEach
    void stop() {
        connection.close();
        plain.close();
        server.close();
    }

    private RehearsalReport rehearse(ThreadSource source, boolean decrypt) throws Exception {
        return rehearse(source, saying("new " + CANARY), decrypt);
    }

    private RehearsalReport rehearse(ThreadSource source, ModelProviders providers, boolean decrypt) throws Exception {
        Candidate candidate = new Candidate("new", Optional.empty(), providers, Map.of(), Optional.empty());
        PayloadCodec codec =
                new EncryptionCodec(EncryptionKeys.of(variables).orElseThrow(), Optional.of(keys()), "default");
        Spending spending = new Spending(Usd.ZERO);
        return new Rehearsal(
                        List.of(candidate),
                        RehearsalSettings.DEFAULT
                                .withParallel(1)
                                .withContinued(2)
                                .withDecrypt(decrypt),
                        Optional.empty(),
                        new AnswerStore(
                                directory.resolve("answers"), Optional.of(new AnswerStore.Keys(codec, "default"))),
                        spending)
                .run(source, Integer.MAX_VALUE, (part, decided) -> {});
    }

    private ThreadSource ofServer() {
        return ServerThreads.named(connection.client(), List.of("secret"));
    }

    private String everythingKept() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(directory.resolve("answers"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    @Test
    void encryptedThread_isRehearsedWithoutRevealingItsTexts() throws Exception {
        RehearsalReport hidden = rehearse(ofServer(), false);

        assertThat(hidden.candidates().get(0).changed()).isEqualTo(1);
        assertThat(hidden.toString()).doesNotContain(CANARY);
        assertThat(HtmlReport.of(RolloutReport.of(Optional.empty(), hidden, List.of(), false)))
                .doesNotContain(CANARY)
                .contains("their texts are left out");
        assertThat(everythingKept()).isNotEmpty().doesNotContain(CANARY);

        RehearsalReport shown = rehearse(ofServer(), true);
        assertThat(shown.toString()).contains("question of secret " + CANARY, "recorded " + CANARY, "new " + CANARY);
        assertThat(HtmlReport.of(RolloutReport.of(Optional.empty(), shown, List.of(), false)))
                .contains("their texts are decrypted here")
                .contains("No condition was set (--fail-on), so nothing passed or failed")
                .doesNotContain("Passed");
        FailCondition never = FailCondition.parse("changed > 100%");
        assertThat(HtmlReport.of(RolloutReport.of(Optional.empty(), shown, List.of(never), false)))
                .contains("Passed");
    }

    @Test
    void encryptedFile_isRehearsedOnlyWithTheKeys() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        String exported = plain.client().fetchHistory("secret").toJson(true);
        assertThat(exported).doesNotContain(CANARY);
        Files.writeString(files.resolve("secret.json"), exported);
        PayloadCodec codec = Connection.codec(variables).orElseThrow();

        RehearsalReport report =
                rehearse(new FileThreads(files, history -> history.decoded(Optional.of(codec), "default")), false);
        RehearsalReport without = rehearse(new FileThreads(files, history -> history), false);

        assertThat(report.skipped()).isEmpty();
        assertThat(report.candidates().get(0).changed()).isEqualTo(1);
        assertThat(report.toString()).doesNotContain(CANARY);
        assertThat(without.skipped()).hasSize(1);
        assertThat(without.skipped().get(0).reason()).startsWith("it can't be read");
    }

    @Test
    void forgottenThread_isNotRehearsedAndItsAnswersAreUnreadable() throws Exception {
        rehearse(ofServer(), false);
        Optional<ThreadHistory> before = ofServer().read("secret");

        keys().forget("default", "secret");
        RehearsalReport report = rehearse(ofServer(), false);

        assertThat(before).isPresent();
        assertThat(report.skipped()).hasSize(1);
        assertThat(report.threads()).isZero();
    }

    /** A thread of two replies, and one that is rehearsed after it. The model of the first thread calls a tool. */
    private ThreadSource ofTwoThreads() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        record(
                "first",
                ModelProviders.of(Map.of(
                        "fake",
                        new FreeModel(request -> calls.getAndIncrement() == 0
                                ? Reply.of(new Part.ToolUse("c-1", "look", Json.EMPTY_OBJECT))
                                : Reply.of(new Part.Text("recorded"))))));
        return ServerThreads.named(connection.client(), List.of("first", "secret"));
    }

    /**
     * Rehearses two threads, and forgets the first one before a model answers.
     *
     * @param request the number of the model's request that comes after the thread was forgotten
     * @param asked receives what the model was asked
     */
    private RehearsalReport forgettingFirst(int request, List<String> asked) throws Exception {
        return rehearse(
                ofTwoThreads(),
                ModelProviders.of(Map.of("fake", new FreeModel(sent -> {
                    asked.add(sent.messages().get(0).canonical());
                    if (asked.size() == request) {
                        keys().forget("default", "first");
                    }
                    return Reply.of(new Part.Text("new " + CANARY));
                }))),
                true);
    }

    @ParameterizedTest(name = "before the answer to request {0}")
    @ValueSource(ints = {1, 2, 3})
    void threadForgottenDuringTheRehearsal_isLeftOutOfTheReport(int request) throws Exception {
        List<String> asked = new ArrayList<>();

        RehearsalReport report = forgettingFirst(request, asked);

        assertThat(report.toString()).contains("question of secret").doesNotContain("question of first", "look");
        assertThat(report.threads()).isEqualTo(1);
        assertThat(report.replies()).isEqualTo(1);
        assertThat(report.candidates().get(0).replies()).isEqualTo(1);
        assertThat(report.contains()).contains("of 1 thread (encrypted: 1; their texts");
        assertThat(report.skipped()).hasSize(1);
        assertThat(report.skipped().get(0).thread()).isEqualTo("first");
        assertThat(report.skipped().get(0).reason()).contains("was forgotten on");
        assertThat(rehearse(ServerThreads.named(connection.client(), List.of("first", "secret")), true))
                .isEqualTo(report);
    }

    @Test
    void forgottenThread_isNeitherSentNorKept() throws Exception {
        List<String> asked = new ArrayList<>();

        forgettingFirst(1, asked);

        assertThat(asked).hasSize(2);
        assertThat(asked.get(0)).contains("question of first");
        assertThat(asked.get(1)).contains("question of secret");
        try (Stream<Path> files = Files.walk(directory.resolve("answers"))) {
            assertThat(files.filter(Files::isRegularFile)).hasSize(1);
        }
    }

    @Test
    void failedRequest_ofAForgottenThread_isNotSentAgain() throws Exception {
        List<String> asked = new ArrayList<>();
        ModelProviders failing = ModelProviders.of(Map.of("fake", new FreeModel(sent -> {
            asked.add(sent.messages().get(0).canonical());
            keys().forget("default", "secret");
            throw ModelFailure.passing("Overloaded", "busy");
        })));

        RehearsalReport report = rehearse(ofServer(), failing, true);

        assertThat(asked).hasSize(1);
        assertThat(report.skipped()).hasSize(1);
        assertThat(report.skipped().get(0).reason()).contains("was forgotten on");
    }
}
