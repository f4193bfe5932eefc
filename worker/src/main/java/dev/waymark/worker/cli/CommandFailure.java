package dev.waymark.worker.cli;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.connect.ServerGoneException;
import dev.waymark.connect.ServerUnreachable;
import dev.waymark.keystore.KeyStoreException;
import dev.waymark.worker.agents.AgentInvalid;
import io.grpc.StatusRuntimeException;
import java.net.BindException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;

/** Thrown by a command that fails for a known reason, with the error to print and the exit code. */
public final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient CommandError error;

    CommandFailure(int exitCode, String type, String message, String remedy) {
        super(message);
        this.error = new CommandError(exitCode, type, message, remedy);
    }

    /** Returns the error to print for any exception that a command throws. */
    public static CommandError of(Exception problem) {
        if (problem instanceof CommandFailure known) {
            return known.error;
        }
        String words = Optional.ofNullable(problem.getMessage())
                .orElse(problem.getClass().getSimpleName());
        if (problem instanceof AgentInvalid invalid) {
            return new CommandError(
                            ExitCode.BAD_INPUT,
                            "AgentInvalid",
                            "invalid agent: " + words,
                            "Until it is fixed, running workers use its last valid version for new threads, and no"
                                    + " worker starts")
                    .with(invalid.others());
        }
        if (problem instanceof KeyProblem) {
            return new CommandError(ExitCode.BAD_INPUT, KeyProblem.TYPE, words, "");
        }
        if (problem instanceof ThreadForgottenException) {
            return new CommandError(ExitCode.NOT_FOUND, ThreadForgottenException.TYPE, words, "");
        }
        if (problem instanceof KeyStoreException) {
            return new CommandError(
                    ExitCode.SERVER_UNREACHABLE, KeyStoreException.TYPE, words, KeyStoreException.ADVICE);
        }
        if (problem instanceof BindException) {
            return new CommandError(
                    ExitCode.BAD_INPUT,
                    "PortInUse",
                    "port: " + words,
                    "Stop what uses it, or choose others with --port and --ui-port");
        }
        if (problem instanceof NoSuchFileException) {
            return new CommandError(ExitCode.NOT_FOUND, CommandError.NOT_FOUND, "not found: " + words, "");
        }
        if (problem instanceof ServerUnreachable || problem instanceof ServerGoneException) {
            return unreachable(words);
        }
        if (problem instanceof StatusRuntimeException status) {
            ServerAnswer answer = ServerAnswer.of(status);
            if (answer.mayPass()) {
                return unreachable("the Temporal server no longer answers: "
                        + status.getStatus().getCode());
            }
            if (answer == ServerAnswer.GONE) {
                return new CommandError(
                        ExitCode.NOT_FOUND,
                        CommandError.NOT_FOUND,
                        "not found on the server: " + status.getStatus().getDescription(),
                        "TEMPORAL_NAMESPACE names the namespace");
            }
        }
        return CommandError.unexpected(problem);
    }

    private static CommandError unreachable(String words) {
        return new CommandError(
                ExitCode.SERVER_UNREACHABLE,
                "ServerUnreachable",
                words,
                "Start one with: " + CommandName.line("dev") + ", or set TEMPORAL_ADDRESS to HOST:PORT");
    }
}
