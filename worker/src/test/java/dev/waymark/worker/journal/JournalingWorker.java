package dev.waymark.worker.journal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A worker with a journal. Its agent {@code a} charges once, which takes until a file exists, and reports that. */
final class JournalingWorker {
    /** The file that exists once the tool runs. */
    static final String BEGAN = "began";
    /** The file that lets the tool end. */
    static final String GO_ON = "go-on";

    private JournalingWorker() {}

    record Charge(int cents) {}

    static WorkerProcess start(String address, Path directory, Path journal) throws IOException, InterruptedException {
        return WorkerProcess.start(JournalingWorker.class, address, directory.toString(), journal.toString());
    }

    public static void main(String[] arguments) throws Exception {
        worker(Connection.to(arguments[0]), Path.of(arguments[1]), Path.of(arguments[2]))
                .start();
        WorkerProcess.work();
    }

    static AgentWorker worker(Connection connection, Path directory, Path journal) {
        JavaTool<Charge> charge = JavaTool.of("charge", "Charges", Charge.class, (input, context) -> {
            Files.writeString(directory.resolve(BEGAN), "");
            while (!Files.exists(directory.resolve(GO_ON))) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            return "charged";
        });
        return AgentWorker.on(connection)
                .agents(AgentSpec.of("a", "m:m", charge.spec()))
                .providers(ModelProviders.of(Map.of(
                        "m",
                        request -> request.messages().size() > 1
                                ? Reply.of(new Part.Text("Done."))
                                : Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of("cents", 5)))))))
                .tools(JavaTools.of(charge))
                .journal(journal)
                .build();
    }
}
