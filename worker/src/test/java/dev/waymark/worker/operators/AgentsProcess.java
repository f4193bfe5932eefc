package dev.waymark.worker.operators;

import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The main class of a worker process that runs the agents in a directory, and drains after SIGTERM: {@code
 * AgentsProcess AGENTS TASK_QUEUE}.
 */
final class AgentsProcess {
    private AgentsProcess() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        ModelProviders providers = ModelProviders.of(Map.of(ScriptedProvider.NAME, new ScriptedProvider(directory)));
        Connection connection = Connection.counted(Optional.empty(), Optional.empty());
        AgentWorker worker = AgentWorker.on(connection)
                .taskQueue(arguments[1])
                .agents(AgentDirectory.load(directory, providers, JavaTools.NONE))
                .providers(providers)
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            worker.drain(Duration.ofHours(1));
            Runtime.getRuntime().halt(0);
        }));
        worker.start();
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
