package dev.waymark.cli;

import dev.waymark.conversation.value.ProblemType;

/** Thrown by a command that fails for a known reason, with the error to print and the exit code. */
public final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient CommandError error;

    public CommandFailure(int exitCode, String type, String message, String remedy) {
        super(message);
        this.error = new CommandError(exitCode, type, message, remedy);
    }

    /** A failure because what was typed is invalid. */
    public static CommandFailure badInput(String message, String remedy) {
        return new CommandFailure(ExitCode.BAD_INPUT, ProblemType.BAD_INPUT, message, remedy);
    }

    /** Returns the error to print. */
    public CommandError error() {
        return error;
    }
}
