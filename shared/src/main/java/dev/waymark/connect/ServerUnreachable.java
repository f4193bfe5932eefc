package dev.waymark.connect;

/** No Temporal server answers at the configured address, or the settings for the connection are invalid. */
public final class ServerUnreachable extends Exception {
    private static final long serialVersionUID = 1L;

    public ServerUnreachable(String message, Throwable cause) {
        super(message, cause);
    }
}
