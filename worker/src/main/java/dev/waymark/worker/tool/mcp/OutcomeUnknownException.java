package dev.waymark.worker.tool.mcp;

/** The server may have received a request, but its outcome is unknown. */
public final class OutcomeUnknownException extends Exception {
    private final boolean late;

    private OutcomeUnknownException(String why, boolean late) {
        super(why);
        this.late = late;
    }

    /** The connection was lost. */
    static OutcomeUnknownException cut(String why) {
        return new OutcomeUnknownException(why, false);
    }

    /** The connection is open, but the answer did not arrive in time. */
    static OutcomeUnknownException late(String why) {
        return new OutcomeUnknownException(why, true);
    }

    public boolean isLate() {
        return late;
    }
}
