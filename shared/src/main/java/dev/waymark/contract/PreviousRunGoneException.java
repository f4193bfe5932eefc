package dev.waymark.contract;

/** The server no longer has the run whose state this run must fetch, so the state is lost. */
public final class PreviousRunGoneException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** @param previousRunId the run that the server does not have */
    public PreviousRunGoneException(String previousRunId) {
        super("the server no longer has run " + previousRunId
                + ", which this run continues, and its state was not carried over yet");
    }
}
