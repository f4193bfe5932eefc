package example;

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
import java.nio.file.Path;
import java.util.Map;

/** The worker of the test, and a program that runs it in a separate process until a crash point kills it. */
final class BillingWorker {
    private BillingWorker() {}

    public static void main(String[] arguments) throws Exception {
        Crash crash = Crash.of(Fault.parse(arguments[2]), Path.of(arguments[3]));
        Connection connection = Connection.to(arguments[0], crash.interceptor());
        worker(connection, Integer.parseInt(arguments[1])).start();
        WorkerProcess.work();
    }

    static AgentWorker worker(Connection connection, int ledgerPort) {
        return AgentWorker.on(connection)
                .agent(new Billing(new LedgerPayments(ledgerPort)).agent("scripted:any"))
                .provider("scripted", model())
                .build();
    }

    private static ModelProvider model() {
        return ScriptedModel.of(
                Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of("name", "Ann", "cents", 4200)))),
                Reply.of(new Part.Text("Settled.")));
    }
}
