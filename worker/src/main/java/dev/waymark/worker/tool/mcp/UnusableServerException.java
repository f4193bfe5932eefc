package dev.waymark.worker.tool.mcp;

/** The server was reached, but its tools cannot be used as they are; a retry would fail in the same way. */
public final class UnusableServerException extends Exception {

    UnusableServerException(String why) {
        super(why);
    }
}
