package dev.waymark.bench.chaos;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * The agents of all runs: one for every combination of scene or wire, kind of tool, number of calls, and whether calls
 * need approval. Every worker has all of them.
 */
final class ChaosAgents {
    static final List<Integer> CALLS = List.of(1, 4);
    /** The environment variable with the directory for the journals of workers. */
    static final String JOURNALS = "JOURNALS";

    static final Usage USAGE = new Usage(10, 1);

    private static final String BOSS = "boss";
    private static final SummaryRule EARLIEST_SUMMARY = new SummaryRule(1, 2);

    private ChaosAgents() {}

    static String agent(Scene scene, ModelWire wire, ToolVariant kind, int calls, boolean approved) {
        String alone = model(kind, calls, approved) + (wire == ModelWire.NONE ? "" : "-" + name(wire));
        return scene == Scene.ALONE ? alone : alone + "-" + name(scene);
    }

    private static String model(ToolVariant kind, int calls, boolean approved) {
        return kind.tool(approved) + "-" + calls;
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Creates a worker that is not disrupted.
     *
     * @param environment the variables with which tools and models find their services
     */
    static AgentWorker worker(WorkflowClient client, String taskQueue, Map<String, String> environment) {
        List<Tool> tools = new ArrayList<>();
        for (ToolVariant kind : ToolVariant.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                kind.tool(approved, environment).ifPresent(tools::add);
            }
        }
        return worker(client, taskQueue, environment, tools, model -> model);
    }

    /** Whether the workers of this run have a journal: every other run, by its id. */
    private static boolean hasJournal(String taskQueue) {
        return taskQueue.hashCode() % 2 == 0;
    }

    /** Creates a worker whose tools and models pass the points of this crash. */
    static AgentWorker worker(WorkflowClient client, String taskQueue, Map<String, String> environment, Crash crash) {
        List<Tool> tools = new ArrayList<>();
        for (ToolVariant kind : ToolVariant.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                kind.tool(approved, environment, crash).ifPresent(tools::add);
            }
        }
        return worker(client, taskQueue, environment, tools, crash::around);
    }

    private static AgentWorker worker(
            WorkflowClient client,
            String taskQueue,
            Map<String, String> environment,
            List<Tool> tools,
            UnaryOperator<ModelProvider> around) {
        List<AgentSpec> agents = new ArrayList<>();
        Map<String, ModelProvider> models = new LinkedHashMap<>();
        ChaosModels.providers(environment).forEach((name, provider) -> models.put(name, around.apply(provider)));
        models.put(BOSS, around.apply(ChaosAgents::givesTheTask));
        for (ToolVariant kind : ToolVariant.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                for (int calls : CALLS) {
                    ToolSpec tool = kind.spec(approved, environment);
                    String model = model(kind, calls, approved);
                    models.put(model, around.apply(model(kind.tool(approved), calls)));
                    for (ModelWire wire : ModelWire.values()) {
                        String asked = wire == ModelWire.NONE ? model + ":scripted" : name(wire) + ":" + model;
                        agents.add(agent(kind, agent(Scene.ALONE, wire, kind, calls, approved), asked, tool));
                    }
                    String alone = agent(Scene.ALONE, ModelWire.NONE, kind, calls, approved);
                    agents.add(agent(
                            kind,
                            agent(Scene.SUBAGENT, ModelWire.NONE, kind, calls, approved),
                            BOSS + ":scripted",
                            ToolSpec.subagent(alone, "Calls.")));
                    String summing = agent(Scene.SUMMARY, ModelWire.NONE, kind, calls, approved);
                    agents.add(agent(kind, summing, model + ":scripted", tool)
                            .with()
                            .summaries(EARLIEST_SUMMARY)
                            .build());
                }
            }
        }
        AgentWorker.Builder worker = AgentWorker.builder(client)
                .taskQueue(taskQueue)
                .agents(agents.toArray(AgentSpec[]::new))
                .providers(ModelProviders.of(models))
                .tools(JavaTools.of(tools));
        if (hasJournal(taskQueue)) {
            worker.journal(
                    Path.of(Objects.requireNonNull(environment.get(JOURNALS))).resolve(taskQueue + "-journal"));
        }
        return worker.build();
    }

    /** Unless the kind is fused, every call has a separate activity, because most crash points are around it. */
    private static AgentSpec agent(ToolVariant kind, String name, String model, ToolSpec tool) {
        AgentSpec agent = AgentSpec.of(name, model, tool);
        return kind.isFused() ? agent : agent.with().fuse(Duration.ZERO).build();
    }

    private static ModelProvider model(String tool, int calls) {
        Part[] uses = IntStream.rangeClosed(1, calls)
                .mapToObj(n -> new Part.ToolUse("tu_" + n, tool, Json.of(Map.of("item", "n" + n))))
                .toArray(Part[]::new);
        return request -> {
            if (request.tools().isEmpty()) { // This is a request for a summary.
                return reply(new Part.Text("There was talk."));
            }
            return hasResults(request) ? reply(new Part.Text("Done.")) : reply(uses);
        };
    }

    private static Reply givesTheTask(ModelRequest request) {
        return hasResults(request)
                ? reply(new Part.Text("They are done."))
                : reply(new Part.ToolUse(
                        Scene.TASK,
                        request.tools().get(0).name(),
                        Json.of(Map.of("task", "Do what you are there for."))));
    }

    /**
     * Returns whether the conversation has results; then the model must not repeat its calls. A summarized conversation
     * keeps the newest results.
     */
    private static boolean hasResults(ModelRequest request) {
        return request.messages().stream()
                .anyMatch(message -> !message.toolResults().isEmpty());
    }

    private static Reply reply(Part... parts) {
        return new Reply(List.of(parts), USAGE, "end_turn");
    }
}
