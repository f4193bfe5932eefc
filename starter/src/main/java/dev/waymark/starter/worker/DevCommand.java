package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import dev.waymark.worker.server.TemporalDownload;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@HelpEntry(
        group = CommandGroup.START,
        examples = {"dev", "dev --agents my-agents --port 7300", "dev --in-memory"})
@Command(
        name = "dev",
        description = {
            "Runs a development server, a worker and the console.",
            "If the temporal command is found (TEMPORAL_CLI, PATH, Go's bin directory, an earlier download), the server"
                    + " stores everything and has a Web UI. Otherwise it runs in memory, and named threads are saved to"
                    + " .waymark/threads."
        })
public final class DevCommand implements Callable<Integer> {

    private static final Path DATABASE = Path.of(".waymark", "temporal.db");
    private static final Path THREADS = Path.of(".waymark", "threads");

    /**
     * Short, because a user waits at the terminal. A server that stores its threads continues them at the next start.
     */
    private static final Duration DRAIN = Duration.ofSeconds(30);

    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Mixin
    private MetricsOptions metrics;

    @Mixin
    private JournalOptions journal;

    @Mixin
    private LimitsOptions limits;

    @Mixin
    private ReceiverOptions receivers;

    @Mixin
    private DevConsole console;

    @Option(names = "--db", paramLabel = "FILE", description = "Database file. Default: .waymark/temporal.db.")
    private @Nullable Path database;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "7233",
            description = "Port of the server. Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--ui-port",
            paramLabel = "PORT",
            defaultValue = "8233",
            description = "Port of the Web UI. Default: ${DEFAULT-VALUE}.")
    private int uiPort;

    @Option(
            names = "--in-memory",
            description = "Run the in-memory server even if the temporal command is found. Named threads are saved to"
                    + " .waymark/threads.")
    private boolean inMemory;

    @Option(names = "--volatile", description = "Do not save named threads of the in-memory server.")
    private boolean isVolatile;

    @Option(
            names = "--download",
            paramLabel = "SHA256",
            arity = "0..1",
            fallbackValue = "",
            description = "Download the temporal command if it is not found, as the Temporal SDK does for its"
                    + " development servers. With a SHA-256, refuse a file that does not match it.")
    private @Nullable String download;

    @Option(
            names = "--no-worker",
            description = "Do not start a worker. Run `waymark worker` yourself. The console lists the agents that your"
                    + " workers report, unless --agents names a directory.")
    private boolean noWorker;

    @Override
    public Integer call() throws Exception {
        Optional<String> address = ConnectionOptions.address();
        if (address.isPresent()) {
            throw CommandFailure.badInput(
                    "dev starts its own server, so it cannot use --address " + address.get(),
                    "Leave it out; --port sets the port of the server");
        }
        WorkerLog.toStderr(output.isVerbose());
        Optional<Path> binary = binary();
        Optional<AgentsOptions.Setup> setup = noWorker ? Optional.empty() : Optional.of(agents.load());
        Path file = Optional.ofNullable(database).orElse(DATABASE);
        try (TerminationSignal termination = TerminationSignal.listen();
                DevServer server = start(binary, file);
                ThreadsMark mark = new ThreadsMark();
                DevConsole ending = console) {
            if (server.kind() == DevServer.Kind.IN_MEMORY && saver().isPresent()) {
                mark.mark(THREADS, server.address()).ifPresent(this::warnAboutOtherServer);
            }
            // Without a worker and a named directory, the console asks the workers.
            boolean isKnown = !noWorker || (agents.isNamed() && agents.exists());
            console.start(
                    server.address(),
                    server.uiAddress(),
                    Optional.of(agents.path()).filter(path -> isKnown));
            if (setup.isPresent()) {
                setup.get().warnings().forEach(output::note);
                serve(termination, server, setup.get());
            } else {
                String worker = Banner.command() + " worker" + Banner.addressOption(server.address());
                announce(server, List.of(), "none; start a worker with " + worker);
                termination.await();
            }
        }
        return ExitCode.DONE;
    }

    private void serve(TerminationSignal termination, DevServer server, AgentsOptions.Setup setup) throws Exception {
        metrics.listen();
        try (MetricsOptions closed = metrics;
                Connection connection = Connection.counted(Optional.of(server.address()), metrics.sdkScope());
                ServerOutage watched = ServerOutage.watch(connection);
                AgentWorker worker = metrics.countedBy(receivers.of(journal.of(
                                limits.of(setup.worker(connection, AgentsOptions.taskQueue()), setup.providers()))))
                        .build()) {
            receivers.warnings(setup.agents().agents().values()).forEach(output::note);
            worker.start();
            metrics.count(watched);
            metrics.started(worker);
            announce(server, setup.agents().names(), Banner.agents(setup.agents()));
            termination.await();
            output.note("Stopping: waiting up to " + DRAIN.toSeconds() + " s for running calls.");
            worker.drain(DRAIN);
        }
    }

    private Optional<Path> binary() throws IOException, CommandFailure {
        if (inMemory) {
            if (database != null) {
                throw contradiction("--in-memory and --db");
            }
            if (download != null) {
                throw contradiction("--in-memory and --download");
            }
            return Optional.empty();
        }
        Optional<Path> binary = TemporalBinary.find();
        if (download != null && binary.equals(TemporalDownload.cached())) {
            binary = Optional.of(downloaded(Optional.of(download).filter(sha256 -> !sha256.isEmpty())));
        }
        if (binary.isEmpty() && database != null) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "--db needs the temporal command, which was not found: " + database,
                    "Put it on PATH, or set TEMPORAL_CLI");
        }
        return binary;
    }

    private static CommandFailure contradiction(String options) {
        return CommandFailure.badInput("these options can't be combined: " + options, "Leave one of them out");
    }

    /** Returns the temporal command, from an earlier download or a new one. It must match the SHA-256, if given. */
    private Path downloaded(Optional<String> sha256) throws CommandFailure {
        if (sha256.isPresent() && !sha256.get().matches("[0-9a-fA-F]{64}")) {
            throw CommandFailure.badInput(
                    "not a SHA-256: " + sha256.get(), "Write its 64 hexadecimal digits after --download=");
        }
        boolean isHere = TemporalDownload.cached().isPresent();
        if (!isHere) {
            output.note("Downloading the temporal command ...");
        }
        try {
            TemporalDownload.Downloaded downloaded = TemporalDownload.fetch(sha256);
            if (!isHere) {
                output.note("Downloaded: " + downloaded.binary() + ", SHA-256 " + downloaded.sha256());
            }
            return downloaded.binary();
        } catch (TemporalDownload.ChecksumMismatch e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    ProblemType.CHECKSUM_MISMATCH,
                    "the downloaded temporal command has a different SHA-256: " + e.getMessage(),
                    "It was deleted. Compare with: " + sha256.orElseThrow());
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "the temporal command can't be downloaded: " + e.getMessage(),
                    "Install it as docs/guide/real-server.md says, or omit --download to run the server in memory");
        }
    }

    private DevServer start(Optional<Path> binary, Path file) throws IOException, InterruptedException, CommandFailure {
        try {
            return binary.isPresent()
                    ? DevServer.temporal(binary.get(), Optional.of(file), port, uiPort)
                    : DevServer.inMemory(port, saver());
        } catch (BindException e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT,
                    ProblemType.PORT_IN_USE,
                    "port: " + e.getMessage(),
                    "Stop what uses it, or choose others with --port and --ui-port");
        }
    }

    /**
     * Returns the saver for named threads. Returns empty with {@code --volatile}, and if the path contains a question
     * mark, which would start the parameters of a saver target.
     */
    private Optional<String> saver() {
        String directory = THREADS.toAbsolutePath().toString();
        return isVolatile || directory.contains("?") ? Optional.empty() : Optional.of("file:" + directory);
    }

    private void warnAboutOtherServer(String address) {
        output.note(OneLine.error(
                "another server saves its threads to " + THREADS + ", so each can take over threads of the other: "
                        + address,
                "Stop one of them, start this one in another directory, or add --volatile"));
    }

    private String kept(DevServer server) {
        if (server.kind() != DevServer.Kind.IN_MEMORY) {
            return "stored in " + Optional.ofNullable(database).orElse(DATABASE);
        }
        return saver().isPresent()
                ? "in memory; named threads are saved to " + THREADS
                : "in memory; everything is lost when it stops";
    }

    private void announce(DevServer server, List<String> names, String agentsInWords)
            throws CommandFailure, InterruptedException {
        if (output.isJson()) {
            output.document(ReadyLine.of(
                    server.address(),
                    server.uiAddress(),
                    AgentsOptions.taskQueue(),
                    names,
                    server.kind().wireName(),
                    metrics.url(),
                    console.url()));
            return;
        }
        StringBuilder words = new StringBuilder("Waymark is ready.\n");
        console.url()
                .ifPresent(url ->
                        words.append("  console ").append(url).append(" (no authentication, this machine only)\n"));
        words.append("  server  ")
                .append(server.address())
                .append(" (")
                .append(kept(server))
                .append(")\n");
        server.uiAddress().ifPresent(ui -> words.append("  Web UI  ").append(ui).append('\n'));
        words.append("  agents  ").append(agentsInWords).append('\n');
        metrics.url().ifPresent(url -> words.append("  metrics ").append(url).append('\n'));
        if (!names.isEmpty()) {
            words.append(
                            console.isRunning()
                                    ? "Open the console, or, in another terminal:\n  "
                                    : "Now, in another terminal:\n  ")
                    .append(Banner.command())
                    .append(" run")
                    .append(Banner.addressOption(server.address()))
                    .append(" --agent ")
                    .append(names.get(0))
                    .append(" \"Hello\"\n");
        }
        words.append("Press Ctrl-C to stop.");
        output.note(words.toString());
    }
}
