package dev.waymark.e2e;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.value.WordSource;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.PlainServer;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thread of 300 steps whose agent has long results, skills, deferred tools and untrusted words, with summaries and a
 * second run. Its model binds its thinking to everything before it.
 */
@Tag("full")
@Tag("server")
@Timeout(300)
class LongContextServerTest {
    private static final int TURNS = 6;
    private static final int CALLS_A_TURN = 49;
    private static final int SUMMARY_AT = 60_000;
    private static final int CHARACTERS_PER_TOKEN = 4;
    private static final double LEAST_SHARE = 0.95;
    private static final Pattern RESULT = Pattern.compile("\"tool_use_id\":\"tu_(\\d+)\"");
    private static final String RECALL = "What was in the newest log?";

    @TempDir
    private Path directory;

    private final List<String> prompts = new ArrayList<>();
    private int summaries;
    private long all;
    private long shared;

    private Path agents() throws Exception {
        Agents agents = new Agents(Files.createDirectory(directory.resolve("agents")));
        agents.program("log.sh", "read -r args; yes \"$args: the quick brown fox\" | head -c 60000");
        agents.program("write.sh", "cat >> ledger; echo written");
        Path skill = Files.createDirectories(agents.directory().resolve("skills/books"));
        Files.writeString(
                skill.resolve("SKILL.md"), "---\nname: books\ndescription: How books are kept\n---\nSee forms.md.\n");
        Files.writeString(skill.resolve("forms.md"), "Write each sum once.\n");
        Files.writeString(agents.directory().resolve("keeper.yaml"), """
                model: anthropic:claude-opus-5-5
                instructions: You keep books.
                max_iterations: 100
                summarize: { when_tokens: %d, keep_messages: 6 }
                results: { show: 4KiB }
                skills: [./skills]
                tools:
                  - name: pay
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: [./write.sh]
                    approval:
                      - { when_untrusted: since_message, then: ask, reason: strangers }
                      - { then: allow }
                  - deferred: true
                    tools:
                %s
                """.formatted(
                SUMMARY_AT,
                IntStream.range(0, 40).mapToObj(LongContextServerTest::tool).collect(Collectors.joining("\n"))));
        return agents.directory();
    }

    /** Every second deferred tool returns a long log of strangers, the others have effects. */
    private static String tool(int number) {
        String kind = number % 2 == 0
                ? "name: log_%d, description: Reads the log of shelf %d, command: [./log.sh], safe_to_retry: true, untrusted: true"
                : "name: file_%d, description: Files a note in shelf %d, command: [./write.sh]";
        return "      - { " + kind.formatted(number, number) + " }";
    }

    /** Answers by the request alone, so that a repeated or rehearsed request gets the same answer. */
    private synchronized ModelAnswer answer(JsonNode body) {
        String text = body.toString();
        if (body.at("/system/0/text").asText().equals(Summary.INSTRUCTIONS)) {
            return ModelAnswer.says("Books are kept.").using(text.length() / CHARACTERS_PER_TOKEN, 10);
        }
        int done = RESULT.matcher(text)
                .results()
                .mapToInt(result -> Integer.parseInt(result.group(1)))
                .max()
                .orElse(0);
        JsonNode messages = body.path("messages");
        JsonNode newest = messages.path(messages.size() - 1).path("content");
        JsonNode last = newest.path(newest.size() - 1);
        boolean isAsked = last.path("type").asText().equals("text");
        int log = done - done % 7 - 4;
        ModelAnswer.Speech thinking = ModelAnswer.says().plus(new Piece.Thought("", "sig" + done));
        ModelAnswer.Speech answer;
        if (isAsked && last.path("text").asText().equals(RECALL)) {
            answer = thinking.calls("recall", "read_result", "{\"call\": \"tu_" + log + "\", \"search\": \"fox\"}");
        } else if (last.path("tool_use_id").asText().equals("recall")) {
            answer = thinking.plus(new Piece.Words(last.path("content").toString()));
        } else if (done % CALLS_A_TURN == 0 && !isAsked) {
            answer = thinking.plus(new Piece.Words("Kept."));
        } else {
            answer = call(thinking, done + 1);
        }
        return answer.using(text.length() / CHARACTERS_PER_TOKEN, 10);
    }

    private static ModelAnswer.Speech call(ModelAnswer.Speech thinking, int number) {
        String id = "tu_" + number;
        int shelf = number / 7 % 20 * 2;
        return switch (number % 7) {
            case 1 -> thinking.calls(id, "read_skill", "{\"name\": \"books\", \"path\": \"forms.md\"}");
            case 2 -> thinking.calls(id, "find_tools", "{\"query\": \"log of shelf " + shelf + "\"}");
            case 3 ->
                thinking.calls(
                        id, "use_tool", "{\"name\": \"log_" + shelf + "\", \"arguments\": {\"day\": " + number + "}}");
            case 4 -> thinking.calls(id, "read_result", "{\"call\": \"tu_" + (number - 1) + "\", \"from\": 9000}");
            case 5 ->
                thinking.calls(
                        id, "read_result", "{\"call\": \"tu_" + (number - 2) + "\", \"search\": \"" + number + "\"}");
            case 6 ->
                thinking.calls(id, "use_tool", "{\"name\": \"file_" + (shelf + 1) + "\", \"arguments\": {\"n\": 1.0}}");
            default ->
                number % CALLS_A_TURN == 0
                        ? thinking.calls(id, "pay", "{\"cents\": " + number + "}")
                        : thinking.calls(id, "read_skill", "{\"name\": \"books\"}");
        };
    }

    /** Compares a request with the one before it, except around summaries. */
    private synchronized void compare(JsonNode body) {
        if (body.at("/system/0/text").asText().equals(Summary.INSTRUCTIONS)) {
            summaries++;
            prompts.clear();
            return;
        }
        StringBuilder prompt = new StringBuilder();
        body.path("tools").forEach(block -> prompt.append(unmarked(block)));
        body.path("system").forEach(block -> prompt.append(unmarked(block)));
        for (JsonNode message : body.path("messages")) {
            message.path("content")
                    .forEach(block -> prompt.append(message.path("role")).append(unmarked(block)));
        }
        String now = prompt.toString();
        if (!prompts.isEmpty()) {
            String before = prompts.remove(0);
            all += now.length();
            int same = 0;
            while (same < Math.min(now.length(), before.length()) && now.charAt(same) == before.charAt(same)) {
                same++;
            }
            shared += same;
        }
        prompts.add(now);
    }

    private static JsonNode unmarked(JsonNode block) {
        ObjectNode copy = block.deepCopy();
        copy.remove("cache_control");
        return copy;
    }

    @Test
    void thread_withAllPartsOfAContext_growsAgreesForksAndIsRehearsed() throws Exception {
        Path agents = agents();
        try (AnthropicServer model = new AnthropicServer();
                PlainServer server =
                        PlainServer.start("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=500");
                Connection connection = server.connect();
                AgentClient client = AgentClient.connect(server.address()).withTimeout(Duration.ofMinutes(3))) {
            model.answers(request -> {
                compare(request.body());
                return answer(request.body());
            });
            ModelProviders providers =
                    ModelProviders.of(Map.of("anthropic", AnthropicProvider.of(model.environment())));
            try (AgentWorker worker = AgentWorker.builder(connection.client())
                    .agents(AgentDirectory.load(agents, providers, JavaTools.NONE))
                    .providers(providers)
                    .build()) {
                worker.start();
                for (int turn = 1; turn <= TURNS; turn++) {
                    AgentResult asks = client.run(
                                    Prompt.of("keeper", "Keep part " + turn).withThread("books"))
                            .await();
                    assertThat(asks).isInstanceOf(AgentResult.Interrupted.class);
                    WordSource found = WordSource.call("tu_" + (CALLS_A_TURN * (turn - 1) + 2), "find_tools");
                    assertThat(((AgentResult.Interrupted) asks).pending())
                            .singleElement()
                            .satisfies(ask -> assertThat(
                                            ask.untrusted().orElseThrow().sinceMessage())
                                    .contains(found));
                    client.send("books", OutboundMessage.of(Approval.approve()));
                    assertThat(assertComplete(client.turn("books").await()).text())
                            .isEqualTo("Kept.");
                }

                assertThat(model.complaints()).isEmpty();
                assertThat(summaries).isEqualTo(2);
                assertThat((double) shared / all).isGreaterThan(LEAST_SHARE);
                assertThat(client.inspector().verify("books").agrees()).isTrue();
                Timeline timeline = client.timeline("books");
                assertThat(timeline.moments().stream().map(Moment::runId).distinct())
                        .hasSizeGreaterThan(1);
                Conversation state = timeline.now();
                assertThat(state.untrusted().orElseThrow().ever()).contains(WordSource.call("tu_2", "find_tools"));

                assertThat(assertComplete(client.fork(
                                                "books",
                                                ForkOptions.into("fork").saying(RECALL))
                                        .await())
                                .text())
                        .contains("the quick brown fox");
                assertThat(client.inspector().verify("fork").agrees()).isTrue();
            }
            int replies = TURNS * (CALLS_A_TURN + 1) + summaries;
            Command waymark = Command.at(server.address());
            for (Map.Entry<String, String> variable : model.environment().entrySet()) {
                waymark = waymark.with(variable.getKey(), variable.getValue());
            }
            Command.Done rehearsed = waymark.run(
                    "rehearse",
                    "books",
                    "--agents",
                    agents.toString(),
                    "--max-usd",
                    "1000",
                    "--json",
                    "--answers",
                    directory.resolve("answers").toString());
            JsonNode candidate = rehearsed.json().at("/rehearsal/candidates/0");
            assertThat(candidate.path("replies").asInt()).as(rehearsed.err()).isEqualTo(replies);
            assertThat(candidate.path("same").asInt()).isEqualTo(replies);
            assertThat(model.complaints()).isEmpty();
        }
    }
}
