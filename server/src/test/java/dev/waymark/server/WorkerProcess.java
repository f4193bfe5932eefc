package dev.waymark.server;

import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** A worker in a JVM of its own, so that it can be killed. It ends with the JVM of the test. */
final class WorkerProcess implements AutoCloseable {
    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    /** Returns once the worker takes work. */
    static WorkerProcess start(String temporal, Path agents) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        WorkerProcess.class.getName(),
                        temporal,
                        agents.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (process.getInputStream().read() < 0) {
            throw new IOException("the worker did not start");
        }
        return new WorkerProcess(process);
    }

    /** Kills the worker by SIGKILL. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    public static void main(String[] arguments) throws Exception {
        Path agents = Path.of(arguments[1]);
        ModelProviders providers = ModelProviders.of(Map.of(ScriptedProvider.NAME, new ScriptedProvider(agents)));
        AgentWorker.builder(Connection.to(arguments[0]).client())
                .agents(AgentDirectory.load(agents, providers, JavaTools.NONE))
                .providers(providers)
                .build()
                .start();
        System.out.print('!');
        System.out.flush();
        while (System.in.read() >= 0) {
            // The test is alive.
        }
        Runtime.getRuntime().halt(1);
    }
}
