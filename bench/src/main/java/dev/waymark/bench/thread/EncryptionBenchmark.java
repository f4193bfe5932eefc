package dev.waymark.bench.thread;

import dev.waymark.agent.AgentSpec;
import dev.waymark.bench.BenchReport;
import dev.waymark.bench.BenchServer;
import dev.waymark.bench.FillerText;
import dev.waymark.bench.Interleaved;
import dev.waymark.bench.Statistics;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** Measures the cost of encryption: the same conversation with and without keys, in time and in bytes of history. */
public final class EncryptionBenchmark {
    private static final double MOST_TIME = 1.1;
    private static final double MOST_BYTES_OF_ENGLISH = 0.7;
    private static final int ENCRYPTED = 0;
    private static final int PLAIN = 1;

    private static final int TEXT_BYTES = 2_000;
    private static final int LONG_TEXT_BYTES = 8_000;
    private static final int BLOCK = 10;
    private static final int KEY_BYTES = 32;
    private static final String AGENT = "encryption";

    /** Task queues whose names have the same length, because the history stores the name with every task. */
    private static final List<String> QUEUES = List.of("encrypted", "plaintext");

    private final BenchServer server;
    private final BenchReport report;
    private final String english;
    private final int iterations;
    private final int warmUp;
    private final int repetitions;

    private volatile Interleaved turns = new Interleaved(1, 0);

    /** @param root the checkout, whose documentation supplies the English text */
    public EncryptionBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) throws IOException {
        this.server = server;
        this.report = report;
        this.english = documentation(root);
        this.iterations = quick ? 20 : 200;
        this.warmUp = quick ? 10 : 50;
        this.repetitions = quick ? 1 : 3;
    }

    record Shelf(int number) {}

    public void run() throws Exception {
        report.title("encryption: " + iterations + " iterations");
        report.head(
                "messages and results",
                "ms per iteration, encrypted",
                "plain",
                "encrypted / plain",
                "history / messages, encrypted",
                "plain");
        measure("English, 8,000 bytes each", number -> english(number, LONG_TEXT_BYTES), true);
        measure("English, 2,000 bytes each", number -> english(number, TEXT_BYTES), false);
        measure("random letters, 2,000 bytes each", number -> FillerText.of(TEXT_BYTES, number), false);
    }

    private void measure(String name, IntFunction<String> texts, boolean isBounded) throws Exception {
        Connection plain = server.connection();
        try (Connection encrypted = Connection.over(plain.stubs(), plain.namespace(), newKeys());
                AgentWorker encrypting = worker(encrypted, ENCRYPTED, texts);
                AgentWorker ordinary = worker(plain, PLAIN, texts)) {
            encrypting.start();
            ordinary.start();
            converse(encrypted, texts);
            List<Pair> pairs = new ArrayList<>();
            for (int repetition = 0; repetition < repetitions; repetition++) {
                pairs.add(converse(encrypted, texts));
            }
            double sealed = Statistics.median(laps(pairs, ENCRYPTED));
            double open = Statistics.median(laps(pairs, PLAIN));
            Pair last = pairs.get(pairs.size() - 1);
            double messages = new HistoryReader(plain.client())
                    .read(last.plain)
                    .orElseThrow()
                    .now()
                    .transcript()
                    .bytes();
            double stored = historyBytes(last.encrypted) / messages;
            report.row(
                    name,
                    BenchReport.text("%.2f", sealed),
                    BenchReport.text("%.2f", open),
                    report.within(sealed / open, MOST_TIME, "%.3f"),
                    isBounded ? report.within(stored, MOST_BYTES_OF_ENGLISH, "%.3f") : BenchReport.text("%.3f", stored),
                    BenchReport.text("%.3f", historyBytes(last.plain) / messages));
        }
    }

    /** The thread ids of a conversation with keys and of the same conversation without, which ran in turns. */
    private record Pair(String encrypted, String plain, Interleaved turns) {}

    private Pair converse(Connection encrypted, IntFunction<String> texts) {
        Interleaved own = new Interleaved(BLOCK, iterations);
        turns = own;
        String thread = "encryption-" + UUID.randomUUID();
        Pair pair = new Pair(thread + "-encrypted", thread + "-plain", own);
        WorkflowStub sealed = start(encrypted, ENCRYPTED, pair.encrypted, texts);
        WorkflowStub open = start(server.connection(), PLAIN, pair.plain, texts);
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> awaitCompletion(sealed, ENCRYPTED, own));
        awaitCompletion(open, PLAIN, own);
        other.join();
        return pair;
    }

    private static void awaitCompletion(WorkflowStub thread, int side, Interleaved own) {
        try {
            RunOutcome outcome = thread.getResult(RunOutcome.class);
            if (!outcome.status().equals("complete")) {
                throw new IllegalStateException("the conversation ended otherwise: " + outcome);
            }
        } finally {
            own.done(side);
        }
    }

    private static WorkflowStub start(Connection connection, int side, String thread, IntFunction<String> texts) {
        WorkflowStub stub = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(QUEUES.get(side))
                                .setWorkflowId(thread)
                                .build());
        stub.start(
                StartInput.of(AGENT).closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", texts.apply(0))));
        return stub;
    }

    private AgentWorker worker(Connection connection, int side, IntFunction<String> texts) {
        JavaTool<Shelf> look = JavaTool.of(
                        "look", "Looks at a shelf", Shelf.class, (shelf, context) -> texts.apply(-shelf.number()))
                .safeToRetry();
        return AgentWorker.builder(connection.client())
                .taskQueue(QUEUES.get(side))
                .agents(AgentSpec.of(AGENT, "bench:any", look.spec())
                        .with()
                        .maxIterations(2 * iterations)
                        .build())
                .providers(ModelProviders.of(Map.of("bench", request -> reply(request, side, texts))))
                .tools(JavaTools.of(look))
                .build();
    }

    private Reply reply(ModelRequest request, int side, IntFunction<String> texts) throws InterruptedException {
        int iteration = (int) request.messages().stream()
                        .filter(message -> message.role() == Role.ASSISTANT)
                        .count()
                + 1;
        turns.mark(side);
        if (iteration > iterations) {
            return Reply.of(new Part.Text("done"));
        }
        return new Reply(
                List.of(
                        new Part.Text(texts.apply(iteration)),
                        new Part.ToolUse("toolu_" + iteration, "look", Json.of(Map.of("number", iteration)))),
                new Usage(1_000, 500),
                "tool_use");
    }

    private double[] laps(List<Pair> pairs, int side) {
        return pairs.stream()
                .flatMapToDouble(pair -> DoubleStream.of(pair.turns.laps(side, warmUp, iterations)))
                .toArray();
    }

    private double historyBytes(String thread) {
        return new HistoryReader(server.connection().client())
                .describe(thread)
                .orElseThrow()
                .getWorkflowExecutionInfo()
                .getHistorySizeBytes();
    }

    private static Map<String, String> newKeys() {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return Map.of(EncryptionKeys.VARIABLE, "bench:" + Base64.getEncoder().encodeToString(key));
    }

    /**
     * Returns an excerpt of the documentation. Consecutive numbers give different excerpts, which overlap if there are
     * many.
     */
    private String english(int number, int length) {
        int begin = Math.floorMod(number * 7_919, english.length() - length);
        return english.substring(begin, begin + length);
    }

    private static String documentation(Path root) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> pages = Files.list(root.resolve("docs/guide"))) {
            for (Path page : pages.sorted().toList()) {
                text.append(Files.readString(page));
            }
        }
        return text.toString();
    }
}
