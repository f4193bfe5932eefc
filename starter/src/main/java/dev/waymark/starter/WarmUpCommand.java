package dev.waymark.starter;

import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.server.http.HttpListener;
import dev.waymark.server.http.HttpReply;
import dev.waymark.starter.worker.WorkerLog;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Loads the classes that most commands need, so that {@code ./waymark} can put them into a class-data-sharing archive.
 * Without the archive, a command spends over a second on loading classes. Runs commands against a server and a worker
 * in this process, and answers a request over HTTP, as a worker with metrics does.
 */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
    private static final String AGENT = """
            model: scripted:a.script.yaml
            tools: [{ name: t, command: ["true"], input: { type: object }, safe_to_retry: true }]
            """;
    private static final String SCRIPT = """
            replies: [{ tool_calls: [{ id: t, name: t }] }, { text: Warm. }, { text: Warm. }]
            """;

    private static final List<String> COMMANDS = List.of(
            "--help",
            "run --help",
            "run --agent a --thread warm-up --volatile Hello",
            "say warm-up Hello --json",
            "result warm-up --json",
            "show warm-up",
            "show warm-up --json",
            "calls warm-up",
            "checkpoint warm-up",
            "checkpoints warm-up",
            "pending",
            "pending --json",
            "sessions",
            "close warm-up",
            "watch warm-up",
            "watch warm-up --json");

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(false);
        Path directory = Files.createTempDirectory("waymark-warm-up-");
        Path agent = Files.writeString(directory.resolve("a.yaml"), AGENT);
        Path script = Files.writeString(directory.resolve("a.script.yaml"), SCRIPT);
        ModelProviders providers = ModelProviders.of(Map.of(ScriptedProvider.NAME, new ScriptedProvider(directory)));
        try (InMemoryServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .agents(AgentDirectory.load(directory, providers, JavaTools.NONE))
                        .providers(providers)
                        .build();
                HttpListener http = HttpListener.start("127.0.0.1", 0, "warm-up", any -> HttpReply.text(200, "ok"))) {
            worker.start();
            request(http.port());
            for (String command : COMMANDS) {
                int exitCode = WaymarkCommand.execute(
                        spec.commandLine().getOut(),
                        spec.commandLine().getErr(),
                        (command + " --address " + server.address()).split(" "));
                if (exitCode != ExitCode.DONE) {
                    return exitCode;
                }
            }
        } finally {
            Files.delete(agent);
            Files.delete(script);
            Files.delete(directory);
        }
        return ExitCode.DONE;
    }

    private static void request(int port) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        }
    }
}
