package dev.waymark.worker.tool.mcp;

/** The request was not sent to the server, so it had no effect. */
public final class RequestNotSentException extends Exception {

    RequestNotSentException(String why) {
        super(why);
    }
}
