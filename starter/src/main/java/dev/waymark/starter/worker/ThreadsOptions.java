package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.ThreadHistory;
import dev.waymark.rehearsal.Check;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.rehearsal.gate.ServerThreads;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.Ages;
import dev.waymark.worker.yaml.YamlProblem;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.client.WorkflowClient;
import io.temporal.payload.codec.PayloadCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that choose recorded threads: those of a server, or those in files. */
final class ThreadsOptions {
    @Parameters(paramLabel = "THREAD", arity = "0..*", description = "The threads. Default: those of --since.")
    private List<String> named = List.of();

    @Option(
            names = "--since",
            paramLabel = "AGE",
            converter = Ages.class,
            description = "Take threads that are open or were started in this time, such as 7d.")
    private @Nullable Duration since;

    @Option(names = "--sample", paramLabel = "N", description = "Take only N of the threads, always the same ones.")
    private @Nullable Integer sample;

    @Option(
            names = "--query",
            paramLabel = "Q",
            description = "Take only the threads that this visibility query finds, such as \"StartTime >"
                    + " '2026-11-01T00:00:00Z'\".")
    private @Nullable String query;

    @Option(
            names = "--histories",
            paramLabel = "DIR",
            description = "Take the threads in the *.json files of this directory, written by export, instead of those"
                    + " on a server.")
    private @Nullable Path histories;

    /** What a command does with the threads. */
    interface Use {
        int with(ThreadSource threads) throws Exception;
    }

    /** Whether one thread is named. */
    boolean isOne() {
        return named.size() == 1;
    }

    /** The maximum number of threads. */
    int most() {
        return sample == null ? Integer.MAX_VALUE : sample;
    }

    /** The checks in files next to thread files, by the name of the thread's file. */
    Map<String, List<Check>> expected() throws IOException, CommandFailure {
        try {
            return histories == null ? Map.of() : Check.besideThreads(histories);
        } catch (YamlProblem e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT, ProblemType.CHECKS_INVALID, "invalid checks: " + e.all(), "Fix the file");
        }
    }

    void check() throws CommandFailure {
        if (Stream.of(histories != null, !named.isEmpty(), query != null || since != null)
                        .filter(given -> given)
                        .count()
                > 1) {
            throw CommandFailure.badInput(
                    "threads are chosen in several ways: by name, with --query or --since, with --histories",
                    "Keep one of them");
        }
        if (histories != null && ConnectionOptions.address().isPresent()) {
            throw CommandFailure.badInput("--histories can't be combined with --address", "Leave one of them out");
        }
        if (histories != null && !Files.isDirectory(histories)) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "no such directory: " + histories,
                    "Write files into it with: " + Banner.command() + " export THREAD --out FILE");
        }
        if (sample != null && sample < 1) {
            throw CommandFailure.badInput(
                    "--sample is not a positive number: " + sample, "Leave it out to take all threads");
        }
    }

    /**
     * Calls the command with the chosen threads.
     *
     * @param otherwise if the options choose no threads: the maximum age of closed threads to include; empty for open
     *     threads only
     */
    int read(Optional<Duration> otherwise, Use use) throws Exception {
        if (histories != null) {
            return use.with(new FileThreads(histories, decoder()));
        }
        try (Connection connection = ConnectionOptions.connect(Optional.empty())) {
            WorkflowClient client = connection.client();
            Optional<Instant> after =
                    Optional.ofNullable(since).or(() -> otherwise).map(Instant.now()::minus);
            return use.with(
                    named.isEmpty()
                            ? ServerThreads.of(client, after, Optional.ofNullable(query))
                            : ServerThreads.named(client, named));
        } catch (StatusRuntimeException e) {
            if (query != null && e.getStatus().getCode() == Status.Code.INVALID_ARGUMENT) {
                throw CommandFailure.badInput(
                        "the server refuses --query: " + e.getStatus().getDescription(),
                        "Example: --query \"StartTime > '2026-11-01T00:00:00Z'\"");
            }
            throw e;
        }
    }

    /** Decrypts the output of {@code temporal workflow show} for an encrypted thread. */
    private static UnaryOperator<ThreadHistory> decoder() {
        Optional<PayloadCodec> codec = Connection.codec(ProcessEnvironment.get());
        String namespace = Connection.namespace(ProcessEnvironment.get());
        return history -> history.decoded(codec, namespace);
    }
}
