package dev.waymark.worker.cli;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.SayPayload;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;

/**
 * Runs a thread from start to end, so that {@code ./waymark} can put the classes that this loads into a
 * class-data-sharing archive.
 */
@Command(name = "warm-up", hidden = true)
final class WorkerWarmUp implements Callable<Integer> {

    private static final String AGENT = """
            model: scripted:a.script.yaml
            tools: [{ name: t, command: ["true"], input: { type: object }, safe_to_retry: true }]
            """;
    private static final String SCRIPT = "replies: [{ tool_calls: [{ id: t, name: t }] }, { text: Warm. }]";

    @Override
    public Integer call() throws Exception {
        Path directory = Files.createTempDirectory("waymark-warm-up-");
        Path agent = Files.writeString(directory.resolve("a.yaml"), AGENT);
        Path script = Files.writeString(directory.resolve("a.script.yaml"), SCRIPT);
        ModelProviders providers = ModelProviders.of(Map.of(ScriptedProvider.NAME, new ScriptedProvider(directory)));
        try (InMemoryServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .agents(AgentDirectory.load(directory, providers, JavaTools.NONE))
                        .providers(providers)
                        .build()) {
            worker.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(worker.taskQueue())
                                    .setWorkflowId("warm-up")
                                    .build());
            thread.start(StartInput.of("a").closingAfterOneTurn().saying(SayPayload.message("m", "Hello")));
            thread.getResult(20, TimeUnit.SECONDS, RunOutcome.class);
        } finally {
            Files.delete(agent);
            Files.delete(script);
            Files.delete(directory);
        }
        return 0;
    }
}
