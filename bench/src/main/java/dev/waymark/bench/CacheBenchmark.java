package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOptions;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer.Received;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Measures the share of its input that a thread of fifty steps reads from the service's cache: five turns of ten steps,
 * with results of 1 KB, and with thinking that the service binds to everything before it.
 */
final class CacheBenchmark {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String SCHEMA =
            "{\"type\":\"object\",\"required\":[\"n\"],\"additionalProperties\":false,\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    private static final Duration BETWEEN_STEPS = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMinutes(30);
    private static final int STEPS_A_TURN = 10;
    private static final int TURNS = 5;
    private static final int PAUSE_AFTER = 25;
    private static final int SUMMARY_AT = 8_000;
    private static final double LEAST = 0.95;
    private static final double LEAST_WITH_PAUSE = 0.90;

    private final BenchServer server;
    private final BenchReport report;

    CacheBenchmark(BenchServer server, BenchReport report) {
        this.server = server;
        this.report = report;
    }

    private record Look(int number) {}

    /** The conditions of one row of the table. */
    private record Course(String name, boolean hasSchema, boolean hasPause, String cache, boolean isSummarised) {}

    void run() throws Exception {
        report.title("cache: which part of the input is read from the service's cache");
        report.head("50 steps", "input, tokens", "read from the cache", "written to it");
        for (Course course : List.of(
                new Course("nothing else", false, false, "5m", false),
                new Course("a schema in steps 11 to 20", true, false, "5m", false),
                new Course("a pause of 30 minutes, `1h`", false, true, "1h", false),
                new Course("a pause of 30 minutes, `5m`", false, true, "5m", false),
                new Course("summaries", false, false, "5m", true))) {
            Usage usage = usage(course);
            double read = (double) usage.cacheReadTokens() / usage.inputTokens();
            double written = (double) usage.cacheWriteTokens() / usage.inputTokens();
            boolean isBound = !course.isSummarised()
                    && !(course.hasPause() && course.cache().equals("5m"));
            report.row(
                    course.name(),
                    usage.inputTokens(),
                    isBound
                            ? report.atLeast(read, course.hasPause() ? LEAST_WITH_PAUSE : LEAST, "%.3f")
                            : BenchReport.text("%.3f", read),
                    BenchReport.text("%.3f", written));
        }
    }

    private Usage usage(Course course) throws Exception {
        try (AnthropicServer service = new AnthropicServer()) {
            Service answers = new Service(course);
            service.answers(answers::answer);
            AgentSpec.Builder agent = new AgentSpec.Builder("reader", "anthropic:claude-opus-5-5")
                    .instructions(FillerText.of(1_000, 1))
                    .options(ModelOptions.NONE.withCache(course.cache()))
                    .maxIterations(2 * STEPS_A_TURN);
            JavaTool<Look> look = JavaTool.of(
                            "look",
                            FillerText.of(1_000, 2),
                            Look.class,
                            (args, context) -> FillerText.of(1_000, args.number()))
                    .safeToRetry();
            agent.tools(List.of(look.spec()));
            if (course.isSummarised()) {
                agent.summaries(new SummaryRule(SUMMARY_AT, 6));
            }
            try (AgentWorker worker = AgentWorker.builder(server.connection().client())
                            .agents(agent.build())
                            .tools(JavaTools.of(List.of(look)))
                            .providers(
                                    ModelProviders.of(Map.of("anthropic", AnthropicProvider.of(service.environment()))))
                            .build();
                    AgentClient client = AgentClient.connect(server.address())) {
                worker.start();
                String thread = "cache-" + UUID.randomUUID();
                for (int turn = 1; turn <= TURNS; turn++) {
                    Prompt prompt =
                            Prompt.of("reader", "And part " + turn + "?").withThread(thread);
                    boolean hasSchema = course.hasSchema() && turn == 2;
                    AgentResult.assertComplete(
                            client.run(hasSchema ? prompt.withSchema(JSON.readValue(SCHEMA, Json.class)) : prompt)
                                    .await());
                }
            }
            if (!service.complaints().isEmpty()) {
                throw new IllegalStateException("the service refused: " + service.complaints());
            }
            return answers.spent;
        }
    }

    /** Answers with calls, and at the end of each turn with text. */
    private static final class Service {
        private final Course course;
        private final PromptCache cache = new PromptCache();
        private int steps;
        private Usage spent = Usage.NONE;

        private Service(Course course) {
            this.course = course;
        }

        private synchronized ModelAnswer answer(Received request) {
            JsonNode body = request.body();
            boolean isSummary =
                    body.path("system").path(0).path("text").asText().equals(Summary.INSTRUCTIONS);
            Usage usage = cache.read(body);
            spent = spent.plus(usage);
            if (isSummary) {
                return ModelAnswer.says(FillerText.of(1_000, 3)).using(usage);
            }
            steps++;
            cache.pass(course.hasPause() && steps == PAUSE_AFTER ? PAUSE : BETWEEN_STEPS);
            ModelAnswer.Speech thinking = ModelAnswer.says().plus(new Piece.Thought("", "sig" + steps));
            boolean isLast = steps % STEPS_A_TURN == 0;
            boolean wantsJson = course.hasSchema() && steps / STEPS_A_TURN == 2;
            ModelAnswer.Speech answer = isLast
                    ? thinking.plus(new Piece.Words(wantsJson ? "{\"n\": 1}" : "Read."))
                    : thinking.calls("tu_" + steps, "look", "{\"number\": " + steps + "}");
            return answer.using(usage);
        }
    }
}
