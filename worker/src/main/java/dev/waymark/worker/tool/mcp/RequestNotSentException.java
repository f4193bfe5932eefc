package dev.waymark.worker.tool.mcp;

/** The server has not received a request, so it had no effect. */
public final class RequestNotSentException extends Exception {

    RequestNotSentException(String why) {
        super(why);
    }
}
