package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.e2e.product.Dev;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.timeline.CheckpointFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Conversations that are exported from one server as checkpoints and continue on another server, with a model of the
 * same provider or of the other one. Both fake services reject requests that the real services would reject.
 */
@Timeout(300)
@Tag("full")
class ResumedWiresTest {
    private static final List<String> AGENTS = List.of("anthropic", "openai");

    private static final ModelServer ANTHROPIC = new AnthropicServer();
    private static final ModelServer OPENAI = new OpenAiServer();

    @TempDir
    static Path directory;

    private static Dev hereServer;
    private static Dev elsewhereServer;
    private static AgentClient here;
    private static AgentClient elsewhere;

    @BeforeAll
    static void leaveThreads() throws IOException {
        for (String agent : AGENTS) {
            Files.writeString(directory.resolve(agent + ".yaml"), """
                    model: %s:some-model
                    instructions: You book.
                    tools:
                      - use: ask_user
                      - use: todos
                      - { name: look, command: [cat], safe_to_retry: true }
                      - { name: fail, command: [/bin/sh, -c, "exit 1"] }
                    """.formatted(agent));
        }
        Map<String, String> environment = new LinkedHashMap<>(ANTHROPIC.environment());
        environment.putAll(OPENAI.environment());
        hereServer = Dev.inMemory(directory, environment);
        elsewhereServer = Dev.inMemory(directory, environment);
        here = AgentClient.connect(hereServer.address());
        elsewhere = AgentClient.connect(elsewhereServer.address());
        answer(
                ModelAnswer.says()
                        .plus(new ModelAnswer.Piece.Thought("Which day?", "c2lnbmVk"))
                        .plus(new ModelAnswer.Piece.Words("Let me see."))
                        .calls("tu_1", "look", "{\"at\": \"the calendar\"}")
                        .calls("tu_2", "fail", "{")
                        .calls("tu_3", "fail", "{}"),
                // Reuses an id, and asks a question among other calls.
                ModelAnswer.says("One thing.")
                        .calls("tu_1", "look", "{}")
                        .calls("tu_4", "ask_user", "{\"question\": \"Which day?\"}")
                        .calls("tu_5", "write_todos", "{\"todos\": []}"),
                ModelAnswer.says("Booked."));
        for (String agent : AGENTS) {
            for (String thread : List.of(agent + "-waiting", agent + "-complete")) {
                here.run(Prompt.of(agent, "Book it").withThread(thread).allowingVolatile())
                        .await();
            }
            here.answer(agent + "-complete", "Friday").await();
        }
    }

    private static void answer(ModelAnswer... answers) {
        for (ModelServer service : List.of(ANTHROPIC, OPENAI)) {
            service.answers(request -> {
                long said = request.body().path("messages").findValuesAsText("role").stream()
                        .filter("assistant"::equals)
                        .count();
                return answers[(int) Math.min(said, answers.length - 1)];
            });
        }
    }

    static Stream<Arguments> ways() {
        return Stream.of(CheckpointFormat.values())
                .flatMap(format ->
                        AGENTS.stream().flatMap(from -> AGENTS.stream().map(to -> Arguments.of(format, from, to))));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void checkpoint_ofAnyFormat_continuesElsewhereAndIsAcceptedByTheService(
            CheckpointFormat format, String from, String to) {
        ModelServer service = to.equals("openai") ? OPENAI : ANTHROPIC;
        int asked = service.received().size();

        for (String left : List.of("waiting", "complete")) {
            byte[] checkpoint =
                    here.checkpoint(from + "-" + left, format).canonical().getBytes(StandardCharsets.UTF_8);
            String thread = String.join("-", from, left, format.name(), to);
            AgentResult result = elsewhere
                    .resume(
                            checkpoint,
                            ResumeOptions.onward()
                                    .withAgent(to)
                                    .withAnswer("Saturday")
                                    .withThread(thread)
                                    .allowingVolatile())
                    .await();

            assertThat(result)
                    .isInstanceOfSatisfying(
                            AgentResult.Complete.class,
                            complete -> assertThat(complete.text()).isEqualTo("Booked."));
            assertThat(elsewhere.inspector().verify(thread).differences()).isEmpty();
        }

        assertThat(service.complaints()).isEmpty();
        assertThat(service.received()).hasSize(asked + 2);
        assertThat(service.received().get(asked).body().toString()).contains("Book it", "Which day?", "Saturday");
    }

    @AfterAll
    static void stop() {
        Stream.of(here, elsewhere, hereServer, elsewhereServer, ANTHROPIC, OPENAI)
                .forEach(ResumedWiresTest::close);
    }

    private static void close(AutoCloseable open) {
        try {
            if (open != null) {
                open.close();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
