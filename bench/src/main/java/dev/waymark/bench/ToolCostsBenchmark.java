package dev.waymark.bench;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Measures the cost of a call that is claimed before it runs, compared with a call without a claim and with calls that
 * are not activities. Conversations with different tools take turns, so that other load on the machine affects all of
 * them equally.
 */
final class ToolCostsBenchmark {
    private static final double MOST_TIME = 2.0;
    private static final double MOST_BYTES = 1_200;
    private static final double MOST_EVENTS = 0.0;
    private static final int ENOUGH = 1_000_000;
    private static final String FUSED_AGENT = "fused";

    /** Which tool each iteration of a conversation calls, and how often. */
    private enum Kind {
        FUSED("one call, run with the model call", FUSED_AGENT, "look", 1),
        SAFE("one call, safe to retry, in an activity of its own", "tools", "look", 1),
        EFFECT("one call, claimed", "tools", "post", 1),
        STATE("one call on the thread's own state", "tools", "write_file", 1),
        STATES("four of these", "tools", "write_file", 4);

        private final String words;
        private final String agent;
        private final String tool;
        private final int calls;

        Kind(String words, String agent, String tool, int calls) {
            this.words = words;
            this.agent = agent;
            this.tool = tool;
            this.calls = calls;
        }

        private Reply reply(int iteration) {
            Part[] parts = new Part[calls];
            for (int i = 0; i < calls; i++) {
                Json args = tool.equals("write_file")
                        ? Json.of(Map.of("path", "notes.md", "content", "note " + iteration))
                        : Json.of(Map.of("at", "shelf " + iteration));
                parts[i] = new Part.ToolUse("tu_" + iteration + "_" + i, tool, args);
            }
            return Reply.of(parts);
        }
    }

    record Shelf(String at) {}

    /** The cost of a conversation per iteration. */
    private record Cost(double millis, double bytes, double events) {}

    private final Connection connection;
    private final BenchReport report;
    private final int rounds;
    private final int iterations;

    ToolCostsBenchmark(Connection connection, BenchReport report, boolean quick) {
        this.connection = connection;
        this.report = report;
        this.rounds = quick ? 2 : 9;
        this.iterations = quick ? 5 : 40;
    }

    void run() {
        report.title("tools: an iteration with calls of different kinds");
        Map<Kind, List<Cost>> costs = new LinkedHashMap<>();
        try (AgentWorker worker = worker()) {
            worker.start();
            for (Kind kind : Kind.values()) {
                measure(kind);
            }
            for (int round = 0; round < rounds; round++) {
                for (Kind kind : Kind.values()) {
                    costs.computeIfAbsent(kind, any -> new ArrayList<>()).add(measure(kind));
                }
            }
        }
        double safe = median(Objects.requireNonNull(costs.get(Kind.SAFE))).millis();
        report.head("iteration with", "time / safe call's", "history bytes", "events");
        for (Kind kind : Kind.values()) {
            Cost cost = median(Objects.requireNonNull(costs.get(kind)));
            report.row(
                    kind.words,
                    kind == Kind.EFFECT
                            ? report.within(cost.millis() / safe, MOST_TIME, "%.2f")
                            : BenchReport.text("%.2f", cost.millis() / safe),
                    BenchReport.text("%.0f", cost.bytes()),
                    BenchReport.text("%.1f", cost.events()));
        }
        report.line("");
        double claim = median(Objects.requireNonNull(costs.get(Kind.EFFECT))).bytes()
                - median(Objects.requireNonNull(costs.get(Kind.SAFE))).bytes();
        double events = median(Objects.requireNonNull(costs.get(Kind.STATES))).events()
                - median(Objects.requireNonNull(costs.get(Kind.STATE))).events();
        report.line("Bytes that the claim adds to history: " + report.within(claim, MOST_BYTES, "%.0f") + ".");
        report.line("Events that three more state tools add: " + report.within(events, MOST_EVENTS, "%.1f") + ".");
    }

    private AgentWorker worker() {
        ModelProviders providers = ModelProviders.of(Map.of("tools", request -> {
            List<Message> messages = request.messages();
            String[] plan = messages.get(0).text().split(" ");
            Kind kind = Kind.valueOf(plan[0]);
            int replies = (int) messages.stream()
                    .filter(message -> message.role() == Role.ASSISTANT)
                    .count();
            return replies >= Integer.parseInt(plan[1]) ? Reply.of(new Part.Text("done")) : kind.reply(replies);
        }));
        JavaTool<Shelf> look = JavaTool.of("look", "Looks at a shelf", Shelf.class, (shelf, context) -> shelf.at())
                .safeToRetry();
        JavaTool<Shelf> post = JavaTool.of("post", "Posts to a shelf", Shelf.class, (shelf, context) -> shelf.at());
        List<ToolSpec> tools = new ArrayList<>(BuiltInTools.of("files"));
        tools.add(look.spec());
        tools.add(post.spec());
        AgentSpec fused = AgentSpec.of(FUSED_AGENT, "tools:any", tools.toArray(ToolSpec[]::new))
                .with()
                .maxIterations(ENOUGH)
                .build();
        AgentSpec unfused = AgentSpec.of("tools", "tools:any", tools.toArray(ToolSpec[]::new))
                .with()
                .maxIterations(ENOUGH)
                .fuse(Duration.ZERO)
                .build();
        return AgentWorker.builder(connection.client())
                .agents(fused, unfused)
                .providers(providers)
                .tools(JavaTools.of(look, post))
                .build();
    }

    /**
     * Runs one conversation, and returns its cost per iteration. The last model call, which requests no tool, counts as
     * an iteration.
     */
    private Cost measure(Kind kind) {
        String thread = "tools-" + UUID.randomUUID();
        WorkflowStub stub = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId(thread)
                                .build());
        long start = System.nanoTime();
        stub.start(StartInput.of(kind.agent)
                .closingAfterOneTurn()
                .saying(PersonFact.UserSpoke.message("m-1", kind + " " + iterations)));
        stub.getResult(RunOutcome.class);
        double millis = (System.nanoTime() - start) / 1e6;
        List<HistoryEvent> events = connection.client().fetchHistory(thread).getEvents();
        long bytes = events.stream().mapToLong(HistoryEvent::getSerializedSize).sum();
        return new Cost(
                millis / (iterations + 1),
                (double) bytes / (iterations + 1),
                (double) events.size() / (iterations + 1));
    }

    private static Cost median(List<Cost> costs) {
        return new Cost(
                Statistics.median(costs.stream().mapToDouble(Cost::millis).toArray()),
                Statistics.median(costs.stream().mapToDouble(Cost::bytes).toArray()),
                Statistics.median(costs.stream().mapToDouble(Cost::events).toArray()));
    }
}
