package dev.waymark.cli;

/** The exit codes of all commands. Scripts rely on them. */
public final class ExitCode {
    public static final int DONE = 0;
    public static final int FAILED = 1;
    public static final int BAD_INPUT = 2;
    public static final int NOT_FOUND = 3;
    public static final int INTERRUPTED = 4;
    public static final int SERVER_UNREACHABLE = 5;
    public static final int TIMED_OUT = 6;
    /** The saver failed or did not answer in time. If a turn ran, it is done, and the thread continues. */
    public static final int NOT_SAVED = 7;

    private ExitCode() {}
}
