package dev.waymark.worker.cli;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A development server and a worker in one. */
@Command(
        name = "dev",
        description =
                "Runs a development server and a worker. With the temporal command on PATH, in TEMPORAL_CLI or among Go's"
                        + " programs, it keeps everything and has a Web UI; else the server is in memory.")
public final class DevCommand implements Callable<Integer> {

    private static final Path DATABASE = Path.of(".waymark", "temporal.db");

    /** Somebody waits at the terminal. What is interrupted is done again at the next start. */
    private static final Duration DRAIN = Duration.ofSeconds(30);

    @Mixin
    private OutputOptions output;

    @Mixin
    private AgentsOptions agents;

    @Option(names = "--db", paramLabel = "FILE", description = "What it is kept in. Default: .waymark/temporal.db.")
    private @Nullable Path database;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "7233", description = "Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--ui-port",
            paramLabel = "PORT",
            defaultValue = "8233",
            description = "The Web UI's. Default: ${DEFAULT-VALUE}.")
    private int uiPort;

    @Option(names = "--in-memory", description = "Keeps nothing, and needs no temporal command.")
    private boolean inMemory;

    @Option(names = "--no-worker", description = "Runs the server only, for workers of their own.")
    private boolean noWorker;

    @Override
    public Integer call() throws Exception {
        output.applyToLogging();
        Optional<Path> binary = binary();
        Optional<AgentsOptions.Setup> setup = noWorker ? Optional.empty() : Optional.of(agents.load());
        Path file = Optional.ofNullable(database).orElse(DATABASE);
        try (TerminationSignal termination = TerminationSignal.listen();
                DevServer server = start(binary, file)) {
            if (setup.isPresent()) {
                setup.get().warnings().forEach(output::tell);
                serve(termination, server, setup.get());
            } else {
                announce(server, List.of(), "none here: start them with ./waymark worker");
                termination.await();
            }
        }
        return ExitCode.DONE;
    }

    private void serve(TerminationSignal termination, DevServer server, AgentsOptions.Setup setup) throws Exception {
        try (Connection connection = Connection.to(server.address());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue(AgentsOptions.taskQueue())
                        .agents(setup.agents())
                        .providers(setup.providers())
                        .tools(setup.tools())
                        .build()) {
            worker.start();
            announce(server, setup.agents().names(), Banner.agents(setup.agents()));
            termination.await();
            output.tell("Stopping: what runs may finish, for " + DRAIN.toSeconds() + " s at most.");
            worker.drain(DRAIN);
        }
    }

    private Optional<Path> binary() throws IOException, CommandFailure {
        if (inMemory) {
            if (database != null) {
                throw new CommandFailure(
                        ExitCode.BAD_INPUT,
                        CommandError.BAD_INPUT,
                        "contradiction: --in-memory and --db",
                        "Leave one of them out");
            }
            return Optional.empty();
        }
        Optional<Path> binary = TemporalBinary.find();
        if (binary.isEmpty() && database != null) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    CommandError.NOT_FOUND,
                    "no temporal command, which --db needs: " + database,
                    "Put it on PATH, or set TEMPORAL_CLI");
        }
        return binary;
    }

    private DevServer start(Optional<Path> binary, Path file) throws IOException, InterruptedException {
        return binary.isPresent()
                ? DevServer.temporal(binary.get(), Optional.of(file), port, uiPort)
                : DevServer.inMemory(port);
    }

    private void announce(DevServer server, List<String> names, String agentsInWords) {
        if (output.isJson()) {
            output.printJson(ReadyLine.of(
                    server.address(),
                    server.uiAddress(),
                    AgentsOptions.taskQueue(),
                    names,
                    server.kind().wireName()));
            return;
        }
        String kept = server.kind() == DevServer.Kind.IN_MEMORY
                ? "in memory: all is gone when it ends"
                : "kept in " + Optional.ofNullable(database).orElse(DATABASE);
        StringBuilder words = new StringBuilder("Waymark is ready.\n");
        words.append("  server  ")
                .append(server.address())
                .append(" (")
                .append(kept)
                .append(")\n");
        server.uiAddress().ifPresent(ui -> words.append("  Web UI  ").append(ui).append('\n'));
        words.append("  agents  ").append(agentsInWords).append('\n');
        if (!names.isEmpty()) {
            String elsewhere =
                    server.address().equals("127.0.0.1:7233") ? "" : "TEMPORAL_ADDRESS=" + server.address() + " ";
            words.append("Now, in another terminal:\n  ")
                    .append(elsewhere)
                    .append("./waymark run --agent ")
                    .append(names.get(0))
                    .append(" \"Hello\"\n");
        }
        words.append("Ctrl-C ends it.");
        output.tell(words.toString());
    }
}
