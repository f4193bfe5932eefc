package dev.waymark.server.identity;

/** The settings for authentication or TLS are invalid. */
public final class IdentityProblem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public IdentityProblem(String message) {
        super(message);
    }
}
