package dev.waymark.cli;

/** Thrown by a command that fails for a known reason, with the error to print and the exit code. */
public final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient CommandError error;

    public CommandFailure(int exitCode, String type, String message, String remedy) {
        super(message);
        this.error = new CommandError(exitCode, type, message, remedy);
    }

    /** Returns the error to print. */
    public CommandError error() {
        return error;
    }
}
