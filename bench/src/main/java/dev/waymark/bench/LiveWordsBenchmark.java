package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.model.openai.OpenAiProvider;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntToLongFunction;

/**
 * Measures how far {@code watch} lags behind the provider. A service streams words over HTTP; each word is the time at
 * which it is sent. A {@code watch} in its own process prints the words.
 */
final class LiveWordsBenchmark {
    private static final double MOST_MILLIS = 400;
    private static final int LONGEST_PAUSE_MILLIS = 160;
    private static final int SHORTEST_PAUSE_MILLIS = 20;

    private final BenchServer laboratory;
    private final BenchReport report;
    private final Path root;
    private final int words;
    private final CountDownLatch watching = new CountDownLatch(1);

    LiveWordsBenchmark(BenchServer laboratory, BenchReport report, Path root, boolean quick) {
        this.laboratory = laboratory;
        this.report = report;
        this.root = root;
        this.words = quick ? 60 : 400;
    }

    void run() throws Exception {
        report.title("words: from the provider to the terminal");
        HttpServer service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", this::speak);
        service.start();
        String base = "http://127.0.0.1:" + service.getAddress().getPort() + "/v1";
        WorkflowClient client = laboratory.connection().client();
        try (AgentWorker worker = AgentWorker.builder(client)
                .agents(AgentSpec.of("speaker", "openai:any"))
                .providers(ModelProviders.of(
                        Map.of(OpenAiProvider.NAME, OpenAiProvider.of(Map.of("OPENAI_BASE_URL", base)))))
                .build()) {
            worker.start();
            double[] behind = watch(start(client));
            Arrays.sort(behind);
            report.head("words", "ms behind, median", "95 of 100", "most");
            report.row(
                    behind.length,
                    report.within(Statistics.median(behind), MOST_MILLIS, "%.0f"),
                    BenchReport.text("%.0f", behind[(int) (behind.length * 0.95)]),
                    BenchReport.text("%.0f", behind[behind.length - 1]));
        } finally {
            service.stop(0);
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

    private void speak(HttpExchange exchange) throws IOException {
        Random random = new Random(1);
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            watching.await();
            speak(out, words, i -> random.nextInt(SHORTEST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Streams a reply as OpenAI does: each word is the time at which it is sent, in nanoseconds, and follows a pause.
     */
    static void speak(OutputStream out, int words, IntToLongFunction pauseMillis)
            throws IOException, InterruptedException {
        for (int i = 0; i < words; i++) {
            Thread.sleep(pauseMillis.applyAsLong(i));
            event(out, "{\"choices\":[{\"delta\":{\"content\":\"" + System.nanoTime() + " \"}}]}");
        }
        event(out, "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}");
        event(out, "[DONE]");
    }

    private static void event(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private double[] watch(String thread) throws IOException {
        JsonMapper json = new JsonMapper();
        List<Double> behind = new ArrayList<>();
        ProcessBuilder builder = new ProcessBuilder("./waymark", "watch", thread, "--json")
                .directory(root.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TEMPORAL_ADDRESS", laboratory.address());
        Process watch = builder.start();
        try (BufferedReader lines = watch.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                long now = System.nanoTime();
                watching.countDown();
                JsonNode event = json.readTree(line);
                if (event.path("type").asText().equals("text-delta")) {
                    for (String sent : event.path("text").asText().split(" ")) {
                        behind.add((now - Long.parseLong(sent)) / 1e6);
                    }
                }
            }
        } finally {
            watch.destroy();
        }
        return behind.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
