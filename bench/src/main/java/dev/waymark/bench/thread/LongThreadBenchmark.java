package dev.waymark.bench.thread;

import dev.waymark.agent.AgentSpec;
import dev.waymark.bench.BenchReport;
import dev.waymark.bench.BenchServer;
import dev.waymark.bench.FillerText;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.ThreadListing;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures one very long thread with summaries, which continues as new many times: whether late iterations take as long
 * as early ones, how much the server stores for all runs of the thread, how the worker's heap grows, and whether a
 * rehearsal of some of its decisions reads each event only once.
 */
public final class LongThreadBenchmark {
    private static final double MOST_GROWTH = 1.15;
    private static final double MOST_STORED = 1.6;
    private static final double MOST_HEAP = 1.5;

    private static final int TEXT_BYTES = 2_000;
    private static final int CHARACTERS_PER_TOKEN = 4;
    private static final double MIB = 1024 * 1024;
    private static final String CALL = "toolu_";

    private final BenchServer server;
    private final BenchReport report;
    private final int iterations;
    private final int window;
    private final SummaryRule summaries;

    /** The time of each iteration's model call, by iteration number. */
    private final long[] begun;

    private final AtomicLong uniqueBytes = new AtomicLong();

    /** Calls are counted here, because a summary removes calls from the transcript. */
    private final AtomicInteger calls = new AtomicInteger();

    private long heapEarly;
    private long heapLate;

    public LongThreadBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.report = report;
        this.iterations = quick ? 100 : 10_000;
        this.window = quick ? 20 : 500;
        this.summaries = quick ? new SummaryRule(20_000, 6) : SummaryRule.DEFAULT;
        this.begun = new long[iterations + 2];
    }

    record Shelf(String at) {}

    public void run() throws Exception {
        report.title("long: one thread of " + iterations + " iterations, with summaries");
        WorkflowClient client = server.connection().client();
        JavaTool<Shelf> look = JavaTool.of("look", "Looks at a shelf", Shelf.class, (shelf, context) -> {
                    uniqueBytes.addAndGet(TEXT_BYTES);
                    return FillerText.of(TEXT_BYTES, shelf.at().hashCode());
                })
                .safeToRetry();
        AgentSpec agent = AgentSpec.of("long", "bench:any", look.spec())
                .with()
                .maxIterations(2 * iterations)
                .summaries(summaries)
                .build();
        try (AgentWorker worker = AgentWorker.builder(client)
                .agents(agent)
                .providers(ModelProviders.of(Map.of("bench", this::reply)))
                .tools(JavaTools.of(look))
                .build()) {
            worker.start();
            WorkflowStub stub = client.newUntypedWorkflowStub(
                    WireNames.WORKFLOW_TYPE,
                    WorkflowOptions.newBuilder()
                            .setTaskQueue(WireNames.TASK_QUEUE)
                            .setWorkflowId("long")
                            .build());
            stub.start(StartInput.of("long")
                    .closingAfterOneTurn()
                    .saying(PersonFact.UserSpoke.message("m-1", FillerText.of(TEXT_BYTES, 1))));
            RunOutcome outcome = stub.getResult(RunOutcome.class);
            if (!outcome.status().equals("complete")) {
                throw new IllegalStateException("the thread ended otherwise: " + outcome);
            }
        }
        tell();
    }

    private Reply reply(ModelRequest request) {
        long read = request.messages().stream()
                .mapToLong(LongThreadBenchmark::characters)
                .sum();
        if (request.tools().isEmpty()) { // This is a request for a summary.
            return replied(read, new Part.Text(FillerText.of(TEXT_BYTES, 2)));
        }
        int iteration = calls.incrementAndGet();
        if (iteration > 1 && !answers(request, CALL + (iteration - 1))) {
            throw new IllegalStateException("call " + (iteration - 1) + " is not answered last: "
                    + request.messages().get(request.messages().size() - 1));
        }
        begun[iteration] = System.nanoTime();
        if (iteration == 2 * window + 1) {
            heapEarly = heap();
        } else if (iteration == iterations) {
            heapLate = heap();
        }
        return iteration > iterations
                ? replied(read, new Part.Text("done"))
                : replied(
                        read,
                        new Part.Text(FillerText.of(TEXT_BYTES, iteration)),
                        new Part.ToolUse(CALL + iteration, "look", Json.of(Map.of("at", "shelf " + iteration))));
    }

    private Reply replied(long charactersRead, Part... parts) {
        Reply reply = new Reply(
                List.of(parts),
                new Usage(charactersRead / CHARACTERS_PER_TOKEN, TEXT_BYTES / CHARACTERS_PER_TOKEN),
                "end_turn");
        uniqueBytes.addAndGet(characters(Message.assistant(parts)));
        return reply;
    }

    private static boolean answers(ModelRequest request, String call) {
        List<Message> messages = request.messages();
        return messages.get(messages.size() - 1).toolResults().stream()
                .anyMatch(result -> result.toolUseId().equals(call));
    }

    private static long characters(Message message) {
        return message.text().length()
                + message.toolResults().stream()
                        .mapToLong(result -> result.content().length())
                        .sum();
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Reports the figures. Omits the first iterations, because the JVM is still compiling then. */
    private void tell() throws Exception {
        double early = millis(window + 1, 2 * window + 1);
        double late = millis(iterations - window, iterations);
        List<WorkflowExecutionInfo> runs = new ThreadListing(
                        server.connection().stubs(), server.connection().namespace())
                .all("WorkflowId = 'long'");
        long stored = runs.stream()
                .mapToLong(WorkflowExecutionInfo::getHistorySizeBytes)
                .sum();
        report.head("figure", "iterations " + (window + 1) + " to " + 2 * window, "last " + window, "ratio");
        report.row(
                "ms an iteration",
                BenchReport.text("%.1f", early),
                BenchReport.text("%.1f", late),
                report.within(late / early, MOST_GROWTH, "%.2f"));
        report.row(
                "MiB of heap in use",
                BenchReport.text("%.0f", heapEarly / MIB),
                BenchReport.text("%.0f", heapLate / MIB),
                report.within((double) heapLate / heapEarly, MOST_HEAP, "%.2f"));
        report.line("");
        report.line("Stored in " + runs.size() + " runs, over unique bytes: "
                + report.within((double) stored / uniqueBytes.get(), MOST_STORED, "%.2f") + ".");
    }

    /** Returns the mean time per iteration, including summaries and new runs. */
    private double millis(int from, int to) {
        return (begun[to] - begun[from]) / 1e6 / (to - from);
    }
}
