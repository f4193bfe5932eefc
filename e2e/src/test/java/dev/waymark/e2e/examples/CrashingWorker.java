package dev.waymark.e2e.examples;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A worker in a process that can be made to crash, and the same worker without crashes. */
final class CrashingWorker {
    private CrashingWorker() {}

    public static void main(String[] arguments) throws Exception {
        Crash crash = Crash.of(Fault.parse(arguments[2]), Path.of(arguments[3]));
        Connection connection = Connection.to(arguments[0], crash.interceptor());
        Tool tool = chargeCard(Integer.parseInt(arguments[1]));
        worker(connection, crash.around(tool), crash.around(model())).start();
        WorkerProcess.work();
    }

    static AgentWorker worker(Connection connection, Tool tool, ModelProvider model) {
        return AgentWorker.builder(connection.client())
                .agents(AgentSpec.of("billing", "scripted:any", tool.spec()))
                .providers(ModelProviders.of(Map.of("scripted", model)))
                .tools(JavaTools.of(tool))
                .build();
    }

    /** Your tool. This one sends each charge to a ledger. */
    static Tool chargeCard(int ledgerPort) {
        return RecordingTool.of("charge_card", ledgerPort)
                .with(spec -> spec.verifies().honoursKey().timeout(Duration.ofSeconds(5)));
    }

    static ModelProvider model() {
        return ScriptedModel.of(
                Reply.of(new Part.ToolUse("tu_1", "charge_card", Json.of(Map.of("item", "book")))),
                Reply.of(new Part.Text("Charged.")));
    }
}
