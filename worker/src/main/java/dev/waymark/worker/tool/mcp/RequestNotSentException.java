package dev.waymark.worker.tool.mcp;

/** A server has not been told of a request, so nothing came of it. */
public final class RequestNotSentException extends Exception {

    RequestNotSentException(String why) {
        super(why);
    }
}
