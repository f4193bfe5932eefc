package dev.waymark.bench.soak;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.bench.chaos.ToolVariant;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowClient;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The agents of the soak test. Their model makes the calls that the tasks in the conversation list. */
final class SoakAgents {
    static final String TASK_QUEUE = "soak";

    /** Has all tools, asks people, and delegates to {@link #HELPER}. */
    static final String MIXED = "mixed";
    /** Like {@link #MIXED}, and summarizes its conversation. */
    static final String SUMMARIZING = "summarizing";

    static final String HELPER = "helper";

    /** The kinds of tools whose outcome is known unless a worker is lost. */
    static final List<ToolVariant> KINDS = List.of(
            ToolVariant.EFFECT,
            ToolVariant.VERIFIED,
            ToolVariant.SAFE,
            ToolVariant.COMMAND,
            ToolVariant.VERIFIED_COMMAND);

    private static final int MOST_ITERATIONS = 100;
    private static final int TOKENS_A_MESSAGE = 50;
    /** A conversation is summarized when it has 30 messages. */
    private static final SummaryRule SUMMARIES = new SummaryRule(30 * TOKENS_A_MESSAGE, 10);

    private static final int LEAST_MODEL_MILLIS = 50;
    private static final int MOST_MODEL_MILLIS = 400;
    /**
     * The size of the workflow cache, small enough to be reached within minutes. Until then, threads that have moved to
     * other workers stay in memory.
     */
    private static final int CACHED_THREADS = 10;

    private static final int MOST_WORKFLOW_THREADS = 200;

    private SoakAgents() {}

    /** @param environment the variables with which tools find the ledger */
    static AgentWorker worker(WorkflowClient client, Map<String, String> environment) {
        List<ToolSpec> specs = new ArrayList<>();
        List<Tool> tools = new ArrayList<>();
        for (ToolVariant kind : KINDS) {
            for (boolean approved : new boolean[] {false, true}) {
                specs.add(kind.spec(approved, environment));
                kind.tool(approved, environment).ifPresent(tools::add);
            }
        }
        AgentSpec helper = agent(HELPER, specs);
        specs.add(BuiltInTools.askUser());
        specs.add(ToolSpec.subagent(HELPER, "Does tasks."));
        AgentSpec mixed = agent(MIXED, specs);
        AgentSpec summarizing =
                agent(SUMMARIZING, specs).with().summaries(SUMMARIES).build();
        return AgentWorker.builder(client)
                .taskQueue(TASK_QUEUE)
                .agents(helper, mixed, summarizing)
                .providers(ModelProviders.of(Map.of("obedient", SoakAgents::reply)))
                .tools(JavaTools.of(tools))
                .factoryOptions(options ->
                        options.setWorkflowCacheSize(CACHED_THREADS).setMaxWorkflowThreadCount(MOST_WORKFLOW_THREADS))
                .build();
    }

    private static AgentSpec agent(String name, List<ToolSpec> tools) {
        return AgentSpec.of(name, "obedient:scripted", tools.toArray(ToolSpec[]::new))
                .with()
                .maxIterations(MOST_ITERATIONS)
                .build();
    }

    /** Replies after a random pause, so that workers are also lost during model calls. */
    private static Reply reply(ModelRequest request) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(LEAST_MODEL_MILLIS, MOST_MODEL_MILLIS));
        List<Part> parts = new ArrayList<>();
        if (request.tools().isEmpty()) {
            parts.add(new Part.Text("Some tasks were done."));
        } else {
            parts.addAll(due(request.messages()));
        }
        if (parts.isEmpty()) {
            parts.add(new Part.Text("Done."));
        }
        return new Reply(
                parts, new Usage((long) TOKENS_A_MESSAGE * request.messages().size(), 1), "end_turn");
    }

    /**
     * Returns the next calls of all tasks in the conversation: of each task, the calls of the first round that is not
     * yet made.
     */
    private static List<Part.ToolUse> due(List<Message> messages) {
        Set<String> made = new HashSet<>();
        messages.forEach(message -> message.toolUses().forEach(use -> made.add(use.id())));
        List<Part.ToolUse> due = new ArrayList<>();
        for (SoakTask task : tasks(messages)) {
            for (int round = 0; round < task.rounds().size(); round++) {
                List<Part.ToolUse> missing = task.calls(round).stream()
                        .filter(call -> !made.contains(call.id()))
                        .toList();
                if (!missing.isEmpty()) {
                    due.addAll(missing);
                    break;
                }
            }
        }
        return due;
    }

    /** Returns the tasks in these messages, including repeated ones. */
    static List<SoakTask> tasks(List<Message> messages) {
        return messages.stream()
                .filter(message -> message.role() == Role.USER)
                .flatMap(message -> message.content().stream())
                .filter(Part.Text.class::isInstance)
                .flatMap(part -> SoakTask.parse(((Part.Text) part).text()).stream())
                .toList();
    }
}
