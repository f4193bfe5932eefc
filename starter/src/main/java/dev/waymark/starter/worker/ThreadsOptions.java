package dev.waymark.starter.worker;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.connect.ServerUnreachable;
import dev.waymark.history.ThreadHistory;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.worker.gate.FileThreads;
import dev.waymark.worker.gate.ThreadSource;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.client.WorkflowClient;
import io.temporal.payload.codec.PayloadCodec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that choose recorded threads: those of a server, or those in files. */
final class ThreadsOptions {
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

    /** The maximum number of threads. */
    int most() {
        return sample == null ? Integer.MAX_VALUE : sample;
    }

    Optional<String> query() {
        return Optional.ofNullable(query);
    }

    Optional<Path> histories() {
        return Optional.ofNullable(histories);
    }

    void check() throws CommandFailure {
        if (histories != null && (query != null || ConnectionOptions.address().isPresent())) {
            throw badInput("--histories can't be combined with --query or --address", "Leave one of them out");
        }
        if (histories != null && !Files.isDirectory(histories)) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    CommandError.NOT_FOUND,
                    "no such directory: " + histories,
                    "Write files into it with: " + Banner.command() + " export THREAD --out FILE");
        }
        if (sample != null && sample < 1) {
            throw badInput("--sample is not a positive number: " + sample, "Leave it out to take all threads");
        }
    }

    /** Calls the command with the threads in the files or, if there is no directory, with those of the server. */
    int read(Function<WorkflowClient, ThreadSource> ofServer, Use use) throws Exception {
        if (histories != null) {
            return use.with(new FileThreads(histories, decoder()));
        }
        try (Connection connection = ConnectionOptions.connect(Optional.empty())) {
            return use.with(ofServer.apply(connection.client()));
        } catch (StatusRuntimeException e) {
            if (query != null && e.getStatus().getCode() == Status.Code.INVALID_ARGUMENT) {
                throw badInput(
                        "the server refuses --query: " + e.getStatus().getDescription(),
                        "Example: --query \"StartTime > '2026-11-01T00:00:00Z'\"");
            }
            throw e;
        }
    }

    /** Decrypts the output of {@code temporal workflow show} for an encrypted thread. */
    private static UnaryOperator<ThreadHistory> decoder() throws ServerUnreachable {
        Optional<PayloadCodec> codec = Connection.codec(ProcessEnvironment.get());
        String namespace = Connection.namespace(ProcessEnvironment.get());
        return history -> codec.map(keys -> history.decoded(keys, namespace)).orElse(history);
    }

    static CommandFailure badInput(String message, String remedy) {
        return new CommandFailure(ExitCode.BAD_INPUT, CommandError.BAD_INPUT, message, remedy);
    }
}
