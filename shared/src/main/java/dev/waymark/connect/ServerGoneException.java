package dev.waymark.connect;

/** The Temporal server that answered before does not answer any more. */
public final class ServerGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ServerGoneException(ServerUnreachable cause) {
        super(cause.getMessage(), cause);
    }
}
