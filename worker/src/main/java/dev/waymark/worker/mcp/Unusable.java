package dev.waymark.worker.mcp;

/** A server can be reached, and an agent can't have its tools as they are: asking again would end the same way. */
public final class Unusable extends Exception {

    Unusable(String why) {
        super(why);
    }
}
