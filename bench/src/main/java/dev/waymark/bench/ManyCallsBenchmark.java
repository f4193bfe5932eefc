package dev.waymark.bench;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures whether calls whose tools work are lost when one worker runs many of them: in Java behind a slow connection,
 * and as programs. Then measures how much a busy agent slows down the turns of another agent.
 */
final class ManyCallsBenchmark {
    private static final String DONE = "done";

    /** The number of calls with side effects in one reply. The last thread may make fewer. */
    private static final int CALLS_WITH_EFFECT = 8;

    private static final int SAFE_CALLS = 50;
    private static final Duration ONE_WAY = Duration.ofMillis(300);
    private static final double MOST_WAIT = 2.0;

    record Work(int number) {}

    private final BenchServer server;
    private final BenchReport report;
    private final boolean quick;

    ManyCallsBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.report = report;
        this.quick = quick;
    }

    void run() throws Exception {
        report.title("many-calls: calls that get lost, and calls that wait");
        report.head("calls", "at a time", "took effect", "lost");
        int far = quick ? 16 : 200;
        AtomicInteger effects = new AtomicInteger();
        JavaTool<Work> slow = JavaTool.of("work", "Works", Work.class, (work, context) -> {
            Thread.sleep(Duration.ofSeconds(quick ? 5 : 40).toMillis());
            effects.incrementAndGet();
            return DONE;
        });
        try (CuttableProxy proxy = new CuttableProxy(server.address(), ONE_WAY);
                Connection connection = Connection.to(proxy.address());
                AgentWorker worker = worker(connection, JavaTools.of(slow), agent("far", slow.spec()))) {
            worker.start();
            long lost = lost("far", far, CALLS_WITH_EFFECT);
            report.row("in Java, 300 ms from the server each way", far, effects.get(), report.within(lost, 0, "%.0f"));
        }
        int programs = quick ? 16 : 250;
        ToolSpec sleep = ToolSpec.command("work", "sh", "-c", "sleep " + (quick ? 2 : 20) + "; printf " + DONE)
                .timeout(Duration.ofMinutes(1))
                .build();
        try (AgentWorker worker = worker(server.connection(), JavaTools.NONE, agent("programs", sleep))) {
            worker.start();
            long lost = lost("programs", programs, CALLS_WITH_EFFECT);
            report.row("programs", programs, programs - lost, report.within(lost, 0, "%.0f"));
        }
        beside();
    }

    /**
     * Compares the time of a turn with one call on an idle worker with its time while four threads run fifty slow calls
     * each.
     */
    private void beside() throws Exception {
        ToolSpec slow = ToolSpec.command("work", "sh", "-c", "sleep " + (quick ? 2 : 20) + "; printf " + DONE)
                .safeToRetry()
                .build();
        ToolSpec quickly =
                ToolSpec.command("work", "printf", DONE).safeToRetry().build();
        try (AgentWorker worker =
                worker(server.connection(), JavaTools.NONE, agent("busy", slow), agent("other", quickly))) {
            worker.start();
            double alone = median("other");
            List<WorkflowStub> busy = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                busy.add(start("busy", quick ? 8 : SAFE_CALLS));
            }
            // The calls start one after the other, which must not be measured.
            Thread.sleep(Duration.ofSeconds(quick ? 1 : 8).toMillis());
            double beside = median("other");
            busy.forEach(stub -> stub.getResult(RunOutcome.class));
            report.line("");
            report.line("A turn with one call beside four threads of " + SAFE_CALLS + " slow calls, times one alone: "
                    + report.within(beside / alone, MOST_WAIT, "%.2f") + ".");
        }
    }

    private double median(String agent) {
        double[] millis = new double[quick ? 3 : 9];
        for (int i = 0; i < millis.length; i++) {
            long began = System.nanoTime();
            start(agent, 1).getResult(RunOutcome.class);
            millis[i] = (System.nanoTime() - began) / 1e6;
        }
        return Statistics.median(millis);
    }

    /**
     * Runs this many calls in threads of {@code each} calls, and returns how many do not have the result of their tool.
     */
    private long lost(String agent, int calls, int each) {
        List<WorkflowStub> threads = new ArrayList<>();
        for (int left = calls; left > 0; left -= each) {
            threads.add(start(agent, Math.min(each, left)));
        }
        long done = threads.stream()
                .mapToLong(
                        stub -> List.of(stub.getResult(RunOutcome.class).text().split(" ")).stream()
                                .filter(DONE::equals)
                                .count())
                .sum();
        return calls - done;
    }

    private WorkflowStub start(String agent, int calls) {
        WorkflowClient client = server.connection().client();
        WorkflowStub stub = client.newUntypedWorkflowStub(
                WireNames.WORKFLOW_TYPE,
                WorkflowOptions.newBuilder()
                        .setTaskQueue(WireNames.TASK_QUEUE)
                        .setWorkflowId("many-calls-" + UUID.randomUUID())
                        .build());
        stub.start(StartInput.of(agent)
                .closingAfterOneTurn()
                .saying(PersonFact.UserSpoke.message("m-1", Integer.toString(calls))));
        return stub;
    }

    private static AgentSpec agent(String name, ToolSpec tool) {
        return AgentSpec.of(name, "calls:any", tool);
    }

    private static AgentWorker worker(Connection connection, JavaTools tools, AgentSpec... agents) {
        return AgentWorker.builder(connection.client())
                .agents(agents)
                .tools(tools)
                .providers(ModelProviders.of(Map.of("calls", ManyCallsBenchmark::reply)))
                .build();
    }

    /** First makes the number of calls that the message names, then reports their results. */
    private static Reply reply(ModelRequest request) {
        List<Message> messages = request.messages();
        List<Part.ToolResult> results = messages.stream()
                .flatMap(message -> message.toolResults().stream())
                .toList();
        if (!results.isEmpty()) {
            return Reply.of(new Part.Text(String.join(
                    " ", results.stream().map(Part.ToolResult::content).toList())));
        }
        Part[] calls = new Part[Integer.parseInt(messages.get(0).text())];
        for (int i = 0; i < calls.length; i++) {
            calls[i] = new Part.ToolUse("tu_" + i, "work", Json.of(Map.of("number", i)));
        }
        return Reply.of(calls);
    }
}
