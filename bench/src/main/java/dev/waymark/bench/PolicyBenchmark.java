package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures {@code ./waymark policy --since}, which applies changed rules to the calls of recorded threads. Then runs the
 * same calls under the changed rules, and compares: the command must list exactly the calls whose verdicts differ.
 */
final class PolicyBenchmark {
    private static final double MOST_SECONDS = 60;
    private static final int STARTING = 16;
    private static final int REPLIES = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    private static final Json SMALL = Json.of(Map.of("properties", Map.of("cents", Map.of("maximum", 2_000))));
    private static final Json LARGE = Json.of(Map.of("properties", Map.of("cents", Map.of("minimum", 8_000))));

    /** The calls of every thread were made under these rules. */
    private static final List<ApprovalRule> BEFORE = List.of(
            ApprovalRule.deny("at most ten").requestedOver(10),
            ApprovalRule.allow("small").when(SMALL));

    private static final List<ApprovalRule> AFTER = List.of(
            ApprovalRule.deny("large").when(LARGE),
            ApprovalRule.deny("at most six").requestedOver(6),
            ApprovalRule.ask("it has cost enough").spentOver(new Budget(Optional.empty(), Optional.of(3_200L))),
            ApprovalRule.allow("small").when(SMALL));

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int threads;

    PolicyBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.threads = quick ? 20 : 1_000;
    }

    void run() throws Exception {
        report.title("policy: changed rules over the calls of " + threads + " recorded threads");
        Path directory = Files.createDirectories(server.directory().resolve("agents"));
        Files.writeString(directory.resolve("refunder.yaml"), agentFile());
        try (AgentClient client = AgentClient.connect(server.address())) {
            Map<String, CallVerdict.Then> before = recorded(client, "refunder", BEFORE);
            long began = System.nanoTime();
            ChildProcess.Ended run = waymark.command(
                            "policy",
                            "refunder",
                            "--since",
                            "30d",
                            "--limit",
                            Integer.toString(threads),
                            "--agents",
                            directory.toString(),
                            "--json")
                    .run(PATIENCE);
            double seconds = (System.nanoTime() - began) / 1e9;
            JsonNode tried = PayloadJson.MAPPER.readTree(run.out());
            Map<String, CallVerdict.Then> listed = new TreeMap<>();
            tried.path("differences")
                    .forEach(each -> listed.put(
                            each.path("thread").asText() + " "
                                    + each.path("callId").asText(),
                            PayloadJson.MAPPER.convertValue(each.path("now").path("then"), CallVerdict.Then.class)));
            Map<String, CallVerdict.Then> expected = new TreeMap<>();
            recorded(client, "refunder-after", AFTER).forEach((call, then) -> {
                String same = call.replace("refunder-after-", "refunder-");
                if (before.get(same) != then) {
                    expected.put(same, then);
                }
            });
            report.head("threads", "calls", "differences", "`./waymark policy --since 30d`, s");
            report.row(
                    tried.path("threads").asInt(),
                    tried.path("calls").asInt(),
                    listed.size(),
                    report.within(seconds, MOST_SECONDS, "%.1f"));
            report.line("");
            report.line("Calls that it lists otherwise than a run of the same calls decides: "
                    + report.within(differing(listed, expected), 0, "%.0f") + "; calls that it did not read: "
                    + report.within(before.size() - tried.path("calls").asInt(), 0, "%.0f") + ".");
        }
    }

    private static long differing(Map<String, CallVerdict.Then> some, Map<String, CallVerdict.Then> others) {
        Map<String, CallVerdict.Then> all = new TreeMap<>(some);
        all.putAll(others);
        return all.keySet().stream()
                .filter(call -> some.get(call) != others.get(call))
                .count();
    }

    /** The verdicts of new threads, by thread and call. */
    private Map<String, CallVerdict.Then> recorded(AgentClient client, String agent, List<ApprovalRule> rules)
            throws Exception {
        Map<String, CallVerdict.Then> verdicts = new TreeMap<>();
        Tool refund = refund(rules);
        AgentSpec spec = AgentSpec.of(agent, "bench:any", refund.spec())
                .with()
                .approvals(new AgentSpec.Approvals(true, Optional.empty()))
                .build();
        ExecutorService pool = Executors.newFixedThreadPool(STARTING);
        try (AgentWorker worker = AgentWorker.builder(server.connection().client())
                .agents(spec)
                .providers(ModelProviders.of(Map.of("bench", request -> reply(request.messages()))))
                .tools(JavaTools.of(refund))
                .build()) {
            worker.start();
            List<Callable<Boolean>> runs = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                String thread = agent + "-" + i;
                int seed = i;
                runs.add(() -> {
                    client.run(Prompt.of(agent, Integer.toString(seed)).withThread(thread))
                            .await();
                    return true;
                });
            }
            for (Future<Boolean> run : pool.invokeAll(runs)) {
                run.get();
            }
            for (int i = 0; i < threads; i++) {
                String thread = agent + "-" + i;
                client.timeline(thread)
                        .now()
                        .calls()
                        .forEach((id, call) -> verdicts.put(
                                thread + " " + id, call.verdict().orElseThrow().then()));
            }
        } finally {
            pool.shutdownNow();
        }
        return verdicts;
    }

    /** Requests refunds of random amounts, which depend on the number in the first message only. */
    private static Reply reply(List<Message> messages) {
        int replies = messages.size() / 2;
        if (replies == REPLIES) {
            return Reply.of(new Part.Text("done"));
        }
        Random random = new Random(31 * Long.parseLong(messages.get(0).text()) + replies);
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            parts.add(new Part.ToolUse(
                    "tu_" + replies + "_" + i, "refund", Json.of(Map.of("cents", random.nextInt(10_000)))));
        }
        return new Reply(parts, new Usage(1_000, 100), "tool_use");
    }

    private static Tool refund(List<ApprovalRule> rules) {
        ToolSpec spec = ToolSpec.java("refund").approvedBy(rules).safeToRetry().build();
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return spec;
            }

            @Override
            public String run(Json args, ToolContext context) {
                return "refunded";
            }
        };
    }

    private static String agentFile() {
        List<Object> rules = new ArrayList<>();
        AFTER.forEach(rule -> rules.add(rule.stored().value()));
        return """
                name: refunder
                model: openai:any
                tools:
                  - name: refund
                    description: Refunds an order
                    input: { type: object, properties: { cents: { type: integer } } }
                    command: [echo, refunded]
                    safe_to_retry: true
                    approval: %s
                """.formatted(Json.canonical(rules));
    }
}
