package dev.waymark.worker.mcp;

/** A server may have been told of a request, and what came of it is not known. */
public final class Lost extends Exception {
    private final boolean late;

    private Lost(String why, boolean late) {
        super(why);
        this.late = late;
    }

    /** The connection has gone. */
    static Lost cut(String why) {
        return new Lost(why, false);
    }

    /** The connection is there, and the time for an answer is over. */
    static Lost late(String why) {
        return new Lost(why, true);
    }

    public boolean isLate() {
        return late;
    }
}
