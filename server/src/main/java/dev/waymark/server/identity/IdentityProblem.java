package dev.waymark.server.identity;

/** The settings by which callers are told apart can't be used. */
public final class IdentityProblem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public IdentityProblem(String message) {
        super(message);
    }
}
