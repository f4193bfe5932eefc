package dev.waymark.starter.render;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.saver.SaverException;

/** Maps the client's exceptions and the outcomes of turns to errors and exit codes. */
public final class CommandErrors {
    private CommandErrors() {}

    public static CommandError of(Exception problem) {
        return problem instanceof WaymarkException known ? of(known) : CommandError.unexpected(problem);
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
        if (e instanceof WaymarkException.Interrupted) {
            return ExitCode.INTERRUPTED;
        }
        if (e instanceof WaymarkException.ServerUnreachable) {
            return ExitCode.SERVER_UNREACHABLE;
        }
        if (e instanceof WaymarkException.NoWorker || e instanceof WaymarkException.TimedOut) {
            return ExitCode.WAITED_LONG_ENOUGH;
        }
        if (e instanceof WaymarkException.NotSaved || e.type().equals(SaverException.FAILED)) {
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
            case Problem.NOT_FOUND -> ExitCode.NOT_FOUND;
            case Problem.AGENT_INVALID -> ExitCode.BAD_INPUT;
            default -> ExitCode.FAILED;
        };
    }
}
