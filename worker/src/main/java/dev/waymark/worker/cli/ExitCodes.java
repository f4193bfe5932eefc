package dev.waymark.worker.cli;

/** The exit codes that scripts rely on, as far as these commands have them. */
final class ExitCodes {

    static final int DONE = 0;
    static final int FAILED = 1;
    static final int BAD_INPUT = 2;
    static final int NOT_FOUND = 3;
    static final int SERVER_UNREACHABLE = 5;

    private ExitCodes() {}
}
