package dev.waymark.e2e.product;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A worker in a process that can be made to crash, whose agent reads on in long results, and the same worker without crashes. */
public final class ReadingWorker {
    /** The name of the agent. */
    public static final String AGENT = "reader";

    /** The whole result of each call. */
    public static final String PAGE = "😀 page\n".repeat(5_000) + "needle" + "\nend".repeat(5_000);

    private record Name(String name) {}

    private ReadingWorker() {}

    public static void main(String[] arguments) throws Exception {
        Crash crash = Crash.of(Fault.parse(arguments[1]), Path.of(arguments[2]));
        Connection connection = Connection.to(arguments[0], crash.interceptor());
        worker(connection, crash.around(tool()), crash.around(model())).start();
        WorkerProcess.work();
    }

    /** Returns a worker that is not killed. */
    public static AgentWorker worker(Connection connection) {
        return worker(connection, tool(), model());
    }

    private static AgentWorker worker(Connection connection, Tool tool, ModelProvider model) {
        return AgentWorker.builder(connection.client())
                .agents(AgentSpec.of(AGENT, "scripted:any", tool.spec())
                        .with()
                        .results(new ResultRule(4 * 1024))
                        .build())
                .providers(ModelProviders.of(Map.of("scripted", model)))
                .tools(JavaTools.of(List.of(tool)))
                .build();
    }

    private static Tool tool() {
        return JavaTool.of("page", "Returns a page", Name.class, (name, call) -> PAGE)
                .safeToRetry();
    }

    private static ModelProvider model() {
        return ScriptedModel.of(
                Reply.of(call("tu_1", "page", Map.of("name", "a")), call("tu_2", "page", Map.of("name", "b"))),
                Reply.of(
                        call("tu_3", "read_result", Map.of("call", "tu_1", "from", 3_000)),
                        call("tu_4", "read_result", Map.of("call", "tu_2", "search", "needle"))),
                Reply.of(
                        call("tu_5", "page", Map.of("name", "c")), call("tu_6", "read_result", Map.of("call", "tu_9"))),
                Reply.of(new Part.Text("Read.")));
    }

    private static Part call(String id, String tool, Map<String, Object> args) {
        return new Part.ToolUse(id, tool, Json.of(args));
    }
}
