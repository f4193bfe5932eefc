package dev.waymark.worker.tool.mcp;

/** A server may have been told of a request, and what came of it is not known. */
public final class OutcomeUnknownException extends Exception {
    private final boolean late;

    private OutcomeUnknownException(String why, boolean late) {
        super(why);
        this.late = late;
    }

    /** The connection has gone. */
    static OutcomeUnknownException cut(String why) {
        return new OutcomeUnknownException(why, false);
    }

    /** The connection is there, and the time for an answer is over. */
    static OutcomeUnknownException late(String why) {
        return new OutcomeUnknownException(why, true);
    }

    public boolean isLate() {
        return late;
    }
}
