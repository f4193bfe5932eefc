package dev.waymark.worker.tool.mcp;

/** A server can be reached, and an agent can't have its tools as they are: asking again would end the same way. */
public final class UnusableServerException extends Exception {

    UnusableServerException(String why) {
        super(why);
    }
}
