package dev.waymark.worker.operators;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** A worker in a process that can be made to crash, whose agent reads a skill, and finds and uses a deferred tool of an MCP server. */
public final class FindingWorker {
    private FindingWorker() {}

    public static void main(String[] arguments) throws Exception {
        Crash crash = Crash.of(Fault.parse(arguments[1]), Path.of(arguments[2]));
        Connection connection = Connection.to(arguments[0], crash.interceptor());
        worker(connection, crash.around(model()), Path.of(arguments[3])).start();
        WorkerProcess.work();
    }

    /** Returns a worker that is not killed, with the agents of a directory. */
    static AgentWorker worker(Connection connection, Path agents) throws Exception {
        return worker(connection, model(), agents);
    }

    private static AgentWorker worker(Connection connection, ModelProvider model, Path agents) throws Exception {
        ModelProviders providers = ModelProviders.of(Map.of("scripted", model));
        return AgentWorker.builder(connection.client())
                .agents(AgentDirectory.load(agents, providers, JavaTools.NONE))
                .providers(providers)
                .build();
    }

    private static ModelProvider model() {
        Map<String, Object> use = new LinkedHashMap<>();
        use.put("name", "shop_charge");
        use.put("arguments", Map.of("cents", 5));
        return ScriptedModel.of(
                Reply.of(
                        new Part.ToolUse("tu_1", "find_tools", Json.of(Map.of("query", "charge"))),
                        new Part.ToolUse("tu_3", "read_skill", Json.of(Map.of("name", "billing"))),
                        new Part.ToolUse("tu_4", "rest", Json.EMPTY_OBJECT)),
                Reply.of(new Part.ToolUse("tu_2", "use_tool", Json.of(use))),
                Reply.of(new Part.Text("Charged.")));
    }
}
