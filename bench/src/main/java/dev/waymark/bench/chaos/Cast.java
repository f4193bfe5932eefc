package dev.waymark.bench.chaos;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Reply;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.JavaTools;
import io.temporal.client.WorkflowClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** The agents: one for every kind of tool and number of calls, all known to every worker. */
final class Cast {
    static final List<Integer> CALLS = List.of(1, 4);

    private Cast() {}

    static String agent(Kind kind, int calls, boolean approved) {
        return kind.tool(approved) + "-" + calls;
    }

    /** A worker that nothing happens to. */
    static AgentWorker worker(WorkflowClient client, String taskQueue, int ledgerPort) {
        List<Tool> tools = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                kind.tool(approved, ledgerPort).ifPresent(tools::add);
            }
        }
        return worker(client, taskQueue, ledgerPort, tools, model -> model);
    }

    /** A worker that dies. */
    static AgentWorker worker(WorkflowClient client, String taskQueue, int ledgerPort, Crash crash) {
        List<Tool> tools = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                kind.tool(approved, ledgerPort, crash).ifPresent(tools::add);
            }
        }
        return worker(client, taskQueue, ledgerPort, tools, crash::around);
    }

    private static AgentWorker worker(
            WorkflowClient client,
            String taskQueue,
            int ledgerPort,
            List<Tool> tools,
            UnaryOperator<ModelProvider> around) {
        List<AgentSpec> agents = new ArrayList<>();
        Map<String, ModelProvider> models = new LinkedHashMap<>();
        for (Kind kind : Kind.values()) {
            for (boolean approved : new boolean[] {false, true}) {
                for (int calls : CALLS) {
                    String name = agent(kind, calls, approved);
                    agents.add(AgentSpec.of(name, name + ":scripted", kind.spec(approved, ledgerPort)));
                    models.put(name, around.apply(model(kind.tool(approved), calls)));
                }
            }
        }
        return AgentWorker.builder(client)
                .taskQueue(taskQueue)
                .agents(agents.toArray(AgentSpec[]::new))
                .providers(ModelProviders.of(models))
                .tools(JavaTools.of(tools))
                .build();
    }

    private static ModelProvider model(String tool, int calls) {
        Part[] uses = IntStream.rangeClosed(1, calls)
                .mapToObj(n -> new Part.ToolUse("tu_" + n, tool, Json.of(Map.of("item", "n" + n))))
                .toArray(Part[]::new);
        return ScriptedModel.of(Reply.of(uses), Reply.of(new Part.Text("Done.")));
    }
}
