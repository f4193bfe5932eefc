package dev.waymark.connect;

/** A Temporal server that answered before no longer answers. */
public final class ServerGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ServerGoneException(ServerUnreachable cause) {
        super(cause.getMessage(), cause);
    }
}
