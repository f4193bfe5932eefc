package dev.waymark.starter.render;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentResult;
import dev.waymark.client.connection.ServerFailures;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.ConnectionException;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.worker.agents.AgentInvalid;
import io.grpc.StatusRuntimeException;
import java.net.BindException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;

/** Maps the exceptions of commands and the outcomes of turns to errors and exit codes. */
public final class CommandErrors {
    private CommandErrors() {}

    public static CommandError of(Exception problem) {
        if (problem instanceof CommandFailure known) {
            return known.error();
        }
        if (problem instanceof WaymarkException known) {
            return of(known);
        }
        String words = Optional.ofNullable(problem.getMessage())
                .orElse(problem.getClass().getSimpleName());
        if (problem instanceof AgentInvalid invalid) {
            return new CommandError(
                            ExitCode.BAD_INPUT,
                            ProblemType.AGENT_INVALID,
                            "invalid agent: " + words,
                            "Until it is fixed, running workers use its last valid version for new threads, and no"
                                    + " worker starts")
                    .with(invalid.others());
        }
        if (problem instanceof KeyProblem) {
            return new CommandError(ExitCode.BAD_INPUT, ProblemType.KEY_PROBLEM, words, "");
        }
        if (problem instanceof ThreadForgottenException) {
            return new CommandError(ExitCode.NOT_FOUND, ProblemType.FORGOTTEN, words, "");
        }
        if (problem instanceof KeyStoreException) {
            return new CommandError(
                    ExitCode.SERVER_UNREACHABLE, ProblemType.KEY_STORE_UNAVAILABLE, words, KeyStoreException.ADVICE);
        }
        if (problem instanceof BindException) {
            return new CommandError(
                    ExitCode.BAD_INPUT,
                    ProblemType.PORT_IN_USE,
                    "port: " + words,
                    "Stop what uses it, or choose another with --port");
        }
        if (problem instanceof NoSuchFileException) {
            return new CommandError(ExitCode.NOT_FOUND, ProblemType.NOT_FOUND, "not found: " + words, "");
        }
        if (problem instanceof ConnectionException unreachable) {
            return of(ServerFailures.unreachable(unreachable));
        }
        if (problem instanceof StatusRuntimeException status) {
            return of(status);
        }
        return CommandError.unexpected(problem);
    }

    private static CommandError of(StatusRuntimeException problem) {
        ServerAnswer answer = ServerAnswer.of(problem);
        if (answer.mayPass()) {
            return of(ServerFailures.unreachable(
                    "the Temporal server no longer answers: "
                            + problem.getStatus().getCode(),
                    problem));
        }
        if (answer == ServerAnswer.GONE) {
            return new CommandError(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "not found on the server: " + problem.getStatus().getDescription(),
                    "TEMPORAL_NAMESPACE names the namespace");
        }
        return CommandError.unexpected(problem);
    }

    public static CommandError of(WaymarkException e) {
        return new CommandError(exitCode(e), e.type(), String.valueOf(e.getMessage()), RemedyText.of(e.remedy()))
                .about(e.thread());
    }

    static int exitCode(WaymarkException e) {
        if (e instanceof WaymarkException.NotFound
                || e instanceof WaymarkException.Closed
                || e instanceof WaymarkException.Forgotten) {
            return ExitCode.NOT_FOUND;
        }
        if (e instanceof WaymarkException.ServerUnreachable) {
            return ExitCode.SERVER_UNREACHABLE;
        }
        if (e instanceof WaymarkException.NoWorker
                || e instanceof WaymarkException.TimedOut
                || e instanceof WaymarkException.OutcomeUnreadable) {
            return ExitCode.TIMED_OUT;
        }
        if (e instanceof WaymarkException.NotSaved || e.type().equals(ProblemType.SAVER_FAILED)) {
            return ExitCode.NOT_SAVED;
        }
        return e instanceof WaymarkException.NotComplete ? ExitCode.FAILED : ExitCode.BAD_INPUT;
    }

    /** Returns the exit code of a result. A missing or invalid agent has a different code than a failed turn. */
    public static int exitCode(AgentResult result) {
        if (result instanceof AgentResult.Complete || result instanceof AgentResult.Interrupted) {
            return ExitCode.DONE;
        }
        return switch (result.problem().map(Problem::type).orElse("")) {
            case ProblemType.NOT_FOUND -> ExitCode.NOT_FOUND;
            case ProblemType.AGENT_INVALID -> ExitCode.BAD_INPUT;
            default -> ExitCode.FAILED;
        };
    }
}
