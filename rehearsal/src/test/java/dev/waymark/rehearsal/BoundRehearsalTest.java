package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.Usd;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RecordedReply;
import dev.waymark.model.ModelProvider;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowOptions;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rehearsals of threads whose model binds its thinking to what came before it. */
@Timeout(180)
class BoundRehearsalTest {
    private static final int REPLIES = 4;

    @TempDir
    Path directory;

    /** A service that refuses, or answers without, thinking that is bound to another conversation. */
    enum Service {
        REFUSING("claude-opus-5-5", AnthropicServer::new, AnthropicProvider::of),
        DROPPING("claude-opus-5-5", () -> new AnthropicServer().droppingByDefault(), AnthropicProvider::of),
        RESPONSES("gpt-6.1-sol", ResponsesServer::new, ResponsesProvider::of);

        private final String model;
        private final Supplier<ModelServer> start;
        private final Function<Map<String, String>, ModelProvider> provider;

        Service(String model, Supplier<ModelServer> start, Function<Map<String, String>, ModelProvider> provider) {
            this.model = model;
            this.start = start;
            this.provider = provider;
        }
    }

    private static ModelAnswer thoughtful(int number) {
        ModelAnswer.Speech thought = ModelAnswer.says().plus(new Piece.Thought("Hm " + number, "sig" + number));
        return (number % REPLIES == 0
                        ? thought.plus(new Piece.Words("Fine."))
                        : thought.calls("tu_" + number, "ls", "{}"))
                .using(50, 10);
    }

    /** Records a thread of several replies, and returns the directory with its history. */
    private Path recorded(AgentSpec agent, ModelProviders providers) throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue("q")
                        .agents(AgentDirectory.of(directory, List.of(agent)))
                        .providers(providers)
                        .build()) {
            worker.start();
            connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue("q")
                                    .setWorkflowId("thread")
                                    .build())
                    .start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Look around.")));
            HistoryReader histories = new HistoryReader(connection.client());
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> histories
                            .read("thread")
                            .filter(timeline -> RecordedReply.in(timeline).size() == REPLIES)
                            .isPresent());
            Path files = Files.createDirectory(directory.resolve("histories"));
            Files.writeString(
                    files.resolve("thread.json"),
                    connection.client().fetchHistory("thread").toJson(true));
            return files;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "REFUSING, Be kind., true",
        "REFUSING, You are a., false",
        "DROPPING, Be kind., true",
        "RESPONSES, Be kind., true",
        "RESPONSES, You are a., false"
    })
    void changedAgent_getsAnAnswerForEachReply(Service service, String instructions, boolean hasTools)
            throws Exception {
        List<ToolSpec> tools = new ArrayList<>(BuiltInTools.of("files"));
        tools.add(BuiltInTools.askUser());
        AgentSpec agent = new AgentSpec.Builder("a", "fake:" + service.model)
                .tools(tools)
                .instructions("You are a.")
                .pricing("1", "2")
                .build();
        AgentSpec changed = agent.with()
                .instructions(instructions)
                .tools(hasTools ? tools : BuiltInTools.of("files"))
                .build();
        try (ModelServer server = service.start.get()) {
            server.answers(request -> thoughtful(server.received().size()));
            ModelProviders providers = ModelProviders.of(Map.of("fake", service.provider.apply(server.environment())));
            Path histories = recorded(agent, providers);

            RehearsalReport.OfCandidate result = new Rehearsal(
                            List.of(new Candidate(
                                    "changed",
                                    Optional.of(AgentDirectory.of(directory, List.of(changed))),
                                    providers,
                                    Map.of(),
                                    Optional.empty())),
                            RehearsalSettings.DEFAULT,
                            Optional.empty(),
                            new AnswerStore(directory.resolve("answers"), Optional.empty()),
                            new Spending(Usd.of(BigDecimal.TEN)))
                    .run(new FileThreads(histories, name -> name), Integer.MAX_VALUE, (part, decided) -> {})
                    .candidates()
                    .get(0);

            assertThat(result.replies()).isEqualTo(REPLIES);
            assertThat(result.answers()).isEqualTo(REPLIES);
            assertThat(result.failed()).isZero();
            assertThat(server.complaints()).isEmpty();
            if (server instanceof AnthropicServer anthropic) {
                assertThat(anthropic.dropped()).isEmpty();
            }
        }
    }
}
