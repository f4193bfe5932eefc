package dev.waymark.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.provider.ModelProviders;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * Measures how far {@code watch} lags behind the provider. A service streams words over HTTP, and each word is the time
 * at which it was sent. A {@code watch} in its own process prints them.
 */
final class LiveWordsBenchmark {
    private static final double MOST_MILLIS = 400;
    private static final int LONGEST_PAUSE_MILLIS = 160;
    private static final int SHORTEST_PAUSE_MILLIS = 20;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final JsonMapper JSON = new JsonMapper();

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int words;

    LiveWordsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.words = quick ? 60 : 400;
    }

    void run() throws Exception {
        report.title("words: from the provider to the terminal");
        WorkflowClient client = server.connection().client();
        Random random = new Random(1);
        try (WordService service = WordService.start(
                        words, reply -> word -> random.nextInt(SHORTEST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS));
                AgentWorker worker = AgentWorker.builder(client)
                        .agents(AgentSpec.of("speaker", "openai:any"))
                        .providers(ModelProviders.of(
                                Map.of("openai", OpenAiProvider.of(Map.of("OPENAI_BASE_URL", service.url())))))
                        .build()) {
            worker.start();
            service.hold(1);
            double[] behind = watch(service, start(client));
            report.head("words", "ms behind, median", "95 of 100", "most");
            report.row(
                    behind.length,
                    report.within(Statistics.median(behind), MOST_MILLIS, "%.0f"),
                    BenchReport.text("%.0f", Statistics.percentile(95, behind)),
                    BenchReport.text("%.0f", behind[behind.length - 1]));
        }
    }

    private static String start(WorkflowClient client) {
        String thread = "words-" + UUID.randomUUID();
        WorkflowStub stub = client.newUntypedWorkflowStub(
                WireNames.WORKFLOW_TYPE,
                WorkflowOptions.newBuilder()
                        .setTaskQueue(WireNames.TASK_QUEUE)
                        .setWorkflowId(thread)
                        .build());
        stub.start(StartInput.of("speaker").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Speak")));
        return thread;
    }

    private double[] watch(WordService service, String thread) throws IOException, InterruptedException {
        WordDelays behind = new WordDelays();
        ChildProcess.Builder watch = waymark.command("watch", thread, "--json").onLine(line -> {
            service.speak();
            JsonNode event = event(line);
            if (event.path("type").asText().equals(StreamClient.WORDS)) {
                behind.arrived(event);
            }
        });
        watch.run(PATIENCE);
        return behind.sorted();
    }

    private static JsonNode event(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
